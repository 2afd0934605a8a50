// The command line: verbs, the common options and the mapping of failures to output and exit codes.
#include "cluster/cli/cli.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <vector>
#include <string_view>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cluster/cli/options.hpp"
#include "node/atomic_file.hpp"
#include "cluster/job/runner.hpp"
#include "cluster/signals.hpp"
#include "core/base/version.hpp"
#include "core/hash/dispatch.hpp"
#include "core/sys/random.hpp"
#include "node/topology.hpp"

namespace coppice {
namespace {

std::string version_text() {
  std::string out = fmt::format("coppice {}\nMPI       {}\n", kVersion, mpi_library());
  for (const HashId hash : {HashId::sha256, HashId::shake256, HashId::sha512}) {
    std::string names;
    for (const HashMany* kernel : kernels(hash)) {
      names += fmt::format("{}{} x{}", names.empty() ? "" : ", ", kernel->name, kernel->lanes);
    }
    out += fmt::format("{:<9} {}\n", hash_name(hash), names);
  }
  out += fmt::format("CPU       {}\nOpenSSL   {}\nProtobuf  {}\n", cpu_features(),
                     crypto_library_version(),
                     google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION));
  return out;
}

void set_up_logging(const CommonOptions& common) {
  auto logger = std::make_shared<spdlog::logger>("coppice",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(common.verbose > 0 ? "coppice: %H:%M:%S.%e %l: %v" : "coppice: %l: %v");
  logger->set_level(common.quiet          ? spdlog::level::err
                    : common.verbose == 0 ? spdlog::level::info
                    : common.verbose == 1 ? spdlog::level::debug
                                          : spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

// CLI11's own codes are 105 to 109; every wrong command line is 2 here, in one line.
int parse_failure(const CLI::App& app, const CLI::ParseError& error, bool speak) {
  if (error.get_exit_code() == 0) {  // --help, --version
    if (speak) app.exit(error);
    return 0;
  }
  if (speak) {
    const auto chosen = app.get_subcommands();
    std::string what = error.what();
    for (char& c : what) c = c == '\n' ? ' ' : c;
    complain(fmt::format("{}; see 'coppice{} --help'", what,
                         chosen.empty() ? "" : " " + chosen.front()->get_name()));
  }
  return static_cast<int>(Errc::usage);
}

std::string chosen_verb(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? std::string() : chosen.front()->get_name();
}

// The parser of configuration files reads whatever it is given without an end, and takes a '#' for a
// comment even within quotes: a file name would be cut in silence. Both are refused before it sees them.
std::optional<std::string> config_problem(int argc, char** argv) {
  constexpr std::size_t kLargest = std::size_t{1} << 16;
  constexpr std::string_view kFlag = "--config";
  std::vector<std::string> files;
  if (const char* named = std::getenv("COPPICE_CONFIG"); named != nullptr && *named != '\0') {
    files.emplace_back(named);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == kFlag && i + 1 < argc) files.emplace_back(argv[i + 1]);
    if (arg.starts_with("--config=")) files.emplace_back(arg.substr(kFlag.size() + 1));
  }
  for (const std::string& file : files) {
    if (!std::filesystem::exists(file)) continue;  // said by the parser
    try {
      const Bytes bytes = read_file(file, kLargest);
      const std::string text(bytes.begin(), bytes.end());
      char quote = 0;
      std::size_t line = 1;
      for (const char c : text) {
        if (c == '\n') {
          ++line;
          quote = 0;
        } else if (quote == 0 && c == '#') {
          quote = '#';  // a comment, to the end of the line
        } else if (quote == 0 && (c == '"' || c == '\'')) {
          quote = c;
        } else if (c == quote) {
          quote = 0;
        } else if (c == '#' && quote != '#') {
          return fmt::format("{}: line {} has a '#' within quotes, which this program cannot read; give "
                             "that value on the command line", file, line);
        }
      }
    } catch (const Error& e) {
      return e.what();
    }
  }
  return std::nullopt;
}

int run_verb(CliContext& context, bool speak) {
  try {
    return context.run();
  } catch (const QuietExit& quiet) {
    return quiet.exit_code;
  } catch (const Error& e) {
    if (speak) complain(e.what());
    return e.exit_code();
  } catch (const std::filesystem::filesystem_error& e) {  // a folder on the way that may not be searched
    const bool denied = e.code() == std::errc::permission_denied;
    if (speak) complain(fmt::format("{}: {}", e.path1().string(), e.code().message()));
    return static_cast<int>(denied ? Errc::permission : Errc::io);
  } catch (const std::bad_alloc&) {
    complain("out of memory; use fewer --threads or a smaller --cache");
    return static_cast<int>(Errc::unavailable);
  } catch (const std::exception& e) {
    complain(fmt::format("internal error: {}", e.what()));
    return static_cast<int>(Errc::internal);
  }
}

int parse_and_run(int argc, char** argv) {
  CliContext context;
  context.launch = read_launch();
  if (const auto problem = config_problem(argc, argv)) {
    complain(*problem);
    return static_cast<int>(Errc::config);
  }
  CLI::App app{"Coppice grows hash trees on many machines: LMS/HSS keys over MPI ranks, threads and "
               "SIMD lanes.", "coppice"};
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", version_text);
  // CLI11 2.1 knows no environment name for this option; a file that is named there has to exist too.
  const char* config = std::getenv("COPPICE_CONFIG");
  const bool named = config != nullptr && *config != '\0';
  app.set_config("--config", named ? config : "", "read options from a TOML file (or COPPICE_CONFIG)",
                 named);
  app.allow_config_extras(CLI::config_extras_mode::error);  // a misspelt name must not be ignored
  app.footer("Every option is also an environment variable, COPPICE_ and its name in capitals.\n"
             "Exit codes: 0 done, 1 the answer is no, 2 usage, 65 bad data, 69 unavailable, 70 internal,\n"
             "73 would overwrite, 74 input/output, 75 interrupted and resumable, 77 permission, 78 "
             "configuration.");
  add_keygen(app, context);
  add_sign(app, context);
  add_verify(app, context);
  add_inspect(app, context);
  add_list_params(app, context);
  add_selftest(app, context);
  add_bench(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error, context.speaks(chosen_verb(app)));
  }
  set_up_logging(context.common);
  return run_verb(context, context.speaks(chosen_verb(app)));
}

}  // namespace

int run_program(int argc, char** argv) noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of write(2) like a full disk
  disable_core_dumps();
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& e) {
    complain(e.what());
    return static_cast<int>(Errc::internal);
  }
}

}  // namespace coppice
