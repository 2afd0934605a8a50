// coppice keygen: one LMS or HSS key, its top tree grown over all ranks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/runner.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/text.hpp"
#include "cluster/signals.hpp"
#include "core/encode/hex.hpp"
#include "node/topology.hpp"

namespace coppice {
namespace {

struct Options {
  std::string params;
  std::string hash = "sha256";
  std::string out;
  std::string name = "key";
  std::string cache;
  std::string seed;
  std::string identifier;
  PublicForm form = PublicForm::raw;
  ProgressMode progress = ProgressMode::automatic;
  double watchdog = 4;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
  bool independent = false;
};

// --cache 12 means rows; 300 or 16M means bytes: as many rows as fit.
unsigned cache_rows(const std::string& text, const LmsPair& top) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  std::uint64_t unit = 1;
  bool good = error == std::errc{};
  if (good && at != end) {
    constexpr std::string_view kUnits = "KMG";
    const std::size_t index = kUnits.find(*at);
    good = index != kUnits.npos && at + 1 == end;
    if (good) unit = std::uint64_t{1} << (10 * (index + 1));
  }
  if (!good || value > (std::uint64_t{1} << 40)) {
    fail(Errc::usage, "--cache '" + text + "': expected a number of rows (0 to " +
                          std::to_string(top.lms->h) + ") or bytes such as 65536, 512K or 16M");
  }
  constexpr std::uint64_t kLeastBytes = 32;
  if (unit == 1 && value < kLeastBytes) {
    if (value > top.lms->h) {
      fail(Errc::usage, "--cache " + text + ": the tree has only " + std::to_string(top.lms->h) +
                            " rows below its root");
    }
    return static_cast<unsigned>(value);
  }
  unsigned rows = 0;
  while (rows < top.lms->h && ((std::uint64_t{4} << rows) - 1) * top.lms->m <= value * unit) ++rows;
  return rows;
}

LmsTreeSecret insecure_secret(const Options& o, const LmsPair& top) {
  LmsTreeSecret secret;
  Bytes seed = from_hex(o.seed, "--insecure-seed");
  const std::size_t n = top.lms->m;
  if (seed.size() != n && seed.size() != kMaxSeed) {
    fail(Errc::usage, fmt::format("--insecure-seed has {} bytes; {} needs {}", seed.size(),
                                  top.lms->name, n == kMaxSeed ? "32" : "24 (or 32, all of them hashed)"));
  }
  std::ranges::copy(seed, secret.seed.writable().begin());
  secret.seed_bytes = seed.size();
  wipe(seed.data(), seed.size());
  const Bytes identifier = from_hex(o.identifier, "--insecure-identifier");
  if (identifier.size() != kIdentifierBytes) {
    fail(Errc::usage, fmt::format("--insecure-identifier has {} bytes; I has 16", identifier.size()));
  }
  std::ranges::copy(identifier, secret.identifier.begin());
  return secret;
}

void check_name(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
    fail(Errc::usage, "--name '" + name + "': give a plain file name without '/'; the folder is --out");
  }
  constexpr std::size_t kLongest = 255 - std::string_view(".state-journal").size();
  if (name.size() > kLongest) {
    fail(Errc::usage, fmt::format("--name has {} bytes; a file name has room for {}", name.size(), kLongest));
  }
}

KeygenRequest make_request(const Options& o, const CliContext& context) {
  KeygenRequest request;
  request.params = parse_hss_params(o.params, o.hash);
  const LmsPair& top = request.params.levels.front();
  check_name(o.name);
  request.folder = o.out;
  request.name = o.name;
  request.form = o.form;
  request.child_seeds = o.independent ? ChildSeeds::independent : ChildSeeds::derived;
  if (!o.cache.empty()) request.cache_depth = cache_rows(o.cache, top);
  if (o.seed.empty() != o.identifier.empty()) {
    fail(Errc::usage, "--insecure-seed and --insecure-identifier belong together: LMS keys need both");
  }
  if (!o.seed.empty()) request.insecure = insecure_secret(o, top);
  if (o.resume && o.force) fail(Errc::usage, "--resume and --force exclude each other");
  if (!o.dry_run && o.out.empty()) fail(Errc::usage, "--out DIR is required: the folder for the key");
  request.resume = o.resume;
  request.force = o.force;
  request.watchdog = std::chrono::milliseconds(static_cast<int>(1000 * o.watchdog));
  request.threads = context.common.threads;
  request.kernel = context.common.kernel;
  request.progress = context.common.quiet ? ProgressMode::never : o.progress;
  // Under a launcher stderr is a pipe to it, whatever the user sees.
  request.stderr_is_terminal = !context.launch.by_launcher && ::isatty(STDERR_FILENO) == 1;
  return request;
}

// Reports a failure of this rank alone and ends the others, which may wait for it in a collective.
[[noreturn]] void abort_world(Comm& comm, const std::string& what, int code) {
  complain(fmt::format("rank {} on {}, {}: {}", comm.rank(), host_name(), phase(), what));
  comm.abort(code);
  std::_Exit(code);  // not reached; GCC does not see that the virtual call never returns
}

int run_on_ranks(Comm& comm, const KeygenRequest* request, bool dry_run, Format format) {
  try {
    // Rank 0 decides for all: on another host the environment or a configuration file may differ.
    std::array<std::uint8_t, 1> dry_everywhere{static_cast<std::uint8_t>(dry_run ? 1 : 0)};
    comm.broadcast(dry_everywhere);
    if (dry_everywhere[0] != 0) {
      if (const auto dry = run_dry(comm, request)) {
        print(format == Format::json ? to_json(*dry) : to_text(*dry));
      }
    } else if (const auto result = run_keygen(comm, request)) {
      print(format == Format::json ? to_json(*result) : to_text(*result));
    }
    return 0;
  } catch (const SharedError& e) {
    if (comm.size() == 1) throw;
    // The launcher ends the job as soon as one rank has left with an error: rank 0 speaks before that.
    if (comm.root()) complain(e.what());
    static_cast<void>(comm.any(false));
    throw QuietExit{e.exit_code()};
  } catch (const QuietExit&) {
    static_cast<void>(comm.any(false));
    throw;
  } catch (const Error& e) {
    if (comm.size() == 1) throw;
    abort_world(comm, e.what(), e.exit_code());
  } catch (const std::bad_alloc&) {
    if (comm.size() == 1) throw;
    abort_world(comm, "out of memory", static_cast<int>(Errc::unavailable));
  } catch (const std::exception& e) {  // unwinding would wait for the others at the session's end
    if (comm.size() == 1) throw;
    abort_world(comm, e.what(), static_cast<int>(Errc::internal));
  }
}

int run(const Options& o, CliContext& context) {
  const bool root = context.launch.rank == 0;
  if (!context.launch.problem.empty()) fail(Errc::usage, context.launch.problem);
  // Every rank parses the same flags, so a usage error ends all of them before MPI starts.
  const KeygenRequest request = make_request(o, context);
  install_stop_signals();
  Session session(context.launch);
  return run_on_ranks(session.comm(), root ? &request : nullptr, o.dry_run, context.common.format);
}

}  // namespace

void add_keygen(CLI::App& app, CliContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand(
      "keygen", "Generate an LMS or HSS key; under mpirun or srun over all ranks");
  add_value(verb, "--params", o->params,
            "20/8, LMS_SHA256_M32_H20/LMOTS_SHA256_N32_W8, or HSS levels 15/4,10/8")
      ->required()->option_text("P[,P..]");
  add_value(verb, "--hash", o->hash, "hash of the short form: sha256 (default), sha256-192, shake256, "
                                     "shake256-192")->option_text("H");
  add_value(verb, "--out", o->out, "folder for the key")->option_text("DIR");
  add_value(verb, "--name", o->name, "file name of the key (default: key)")->option_text("NAME");
  const std::map<std::string, PublicForm> forms = {
      {"raw", PublicForm::raw}, {"pem", PublicForm::pem}, {"der", PublicForm::der}};
  verb.add_option("--outform", o->form, "public key as raw (default), pem or der")
      ->transform(CLI::CheckedTransformer(forms))->option_text("FORM")->envname("COPPICE_OUTFORM");
  add_value(verb, "--cache", o->cache, "rows or bytes of the upper tree to keep for fast signing")
      ->option_text("ROWS|BYTES");
  add_switch(verb, "--independent-seeds", o->independent,
             "lower HSS trees get their own random seeds (SP 800-208)");
  add_switch(verb, "--dry-run", o->dry_run, "print cost, time, memory and sizes; write nothing");
  add_switch(verb, "--resume", o->resume, "continue an unfinished key; a finished one is left alone");
  verb.add_option("--watchdog", o->watchdog,
                  "seconds of silence after which a rank counts as hung (default 4; 0: never)")
      ->check(CLI::Range(0.0, 86400.0))->option_text("SECONDS")->envname("COPPICE_WATCHDOG");
  add_switch(verb, "--force", o->force, "replace existing files (never a ledger)");
  const std::map<std::string, ProgressMode> modes = {{"auto", ProgressMode::automatic},
                                                     {"always", ProgressMode::always},
                                                     {"never", ProgressMode::never}};
  verb.add_option("--progress", o->progress, "auto (default), always or never")
      ->transform(CLI::CheckedTransformer(modes))->option_text("MODE")->envname("COPPICE_PROGRESS");
  add_value(verb, "--insecure-seed", o->seed, "known-answer runs only: SEED")->option_text("HEX");
  add_value(verb, "--insecure-identifier", o->identifier, "known-answer runs only: I")
      ->option_text("HEX");
  add_format(verb, context);
  add_compute(verb, context);
  add_logging(verb, context);
  verb.callback([o, &context] { context.run = [o, &context] { return run(*o, context); }; });
}

}  // namespace coppice
