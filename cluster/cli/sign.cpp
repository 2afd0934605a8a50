// coppice sign: one signature; its index is durably spent before the signature exists.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>

#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "cluster/report/text.hpp"
#include "node/kernel_choice.hpp"
#include "node/atomic_file.hpp"
#include "node/signing_key.hpp"
#include "proto/result.pb.h"

namespace coppice {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string key;
  std::string in;
  std::string sig;
  bool force = false;
};

// Not even --force puts a signature in the place of the key that makes it, its ledger or the message.
void refuse_own_inputs(const Options& o) {
  const KeyPaths key = KeyPaths::of_key(o.key);
  const auto place = [](const fs::path& path) {
    std::error_code unreadable;
    const fs::path real = fs::weakly_canonical(fs::absolute(path), unreadable);
    return unreadable ? fs::absolute(path).lexically_normal() : real;
  };
  // SQLite would take a file of its journal's name for its own and remove it.
  const auto beside = [&](const char* suffix) { return fs::path(key.state.string() + suffix); };
  for (const fs::path& used : {key.key, key.pub, key.cache, key.state, key.progress, beside("-journal"),
                               beside("-wal"), beside("-shm"), fs::path(o.in)}) {
    if (place(o.sig) != place(used)) continue;
    fail(Errc::usage, "--sig " + o.sig + ": this is " + used.string() + ", which the signature must "
                      "not replace; give another file name");
  }
}

// Everything that can be refused is refused before an index is spent.
void check_output(const fs::path& sig, bool force) {
  if (fs::is_directory(sig)) fail(Errc::usage, "--sig " + sig.string() + " is a folder; give a file name");
  if (fs::exists(sig) && !fs::is_regular_file(sig)) {
    fail(Errc::usage, "--sig " + sig.string() + " is a device, a pipe or a socket; give a file name");
  }
  if (!force && fs::exists(fs::symlink_status(sig))) {
    fail(Errc::exists, sig.string() + ": already exists; choose another --sig or use --force");
  }
  const fs::path folder = sig.has_parent_path() ? sig.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    fail(Errc::io, folder.string() + ": no such folder for the signature; create it first");
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    fail(Errc::permission, folder.string() + ": this folder for the signature is not writable");
  }
}

int run(const Options& o, const CliContext& context) {
  if (o.sig.empty() || o.in.empty()) fail(Errc::usage, "--in and --sig need a file name");
  refuse_own_inputs(o);
  check_output(o.sig, o.force);
  const Bytes message = read_file(o.in, ~std::size_t{0});
  const HssKeyFile peek = load_key_file(o.key);
  const HashMany& kernel =
      choose_kernel(peek.params.levels.front().lms->hash, context.common.kernel);
  std::string note;
  SigningKey key = SigningKey::open(o.key, kernel, local_threads(context.common), note);
  if (!note.empty()) spdlog::warn("{}", note);
  const IndexRange index = key.reserve(1);
  const Bytes signature = key.sign(index.first, message);
  write_file(o.sig, signature, FileMode::open, o.force ? Overwrite::replace : Overwrite::refuse);

  const std::uint64_t left = key.remaining();
  if (context.common.format == Format::json) {
    v1::SignResult m;
    m.set_schema_version(kSchemaVersion);
    m.add_indices(index.first);
    m.set_hss_keys_remaining(left);
    m.add_files(o.sig);
    print(json(m));
  } else {
    std::string out = text_line("signature", fmt::format("{} ({} bytes)", o.sig, signature.size()));
    out += text_line("index", human_count(index.first));
    out += text_line("remaining", human_count(left));
    print(out);
  }
  if (left == 0) spdlog::warn("{}: this was the last signature of the key", o.key);
  return 0;
}

}  // namespace

void add_sign(CLI::App& app, CliContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("sign", "Sign a file with the next unused leaf of a key");
  add_value(verb, "--key", o->key, "private key, NAME.key")->required()->option_text("FILE");
  add_value(verb, "--in", o->in, "file to sign")->required()->option_text("FILE");
  add_value(verb, "--sig", o->sig, "where to write the signature")->required()->option_text("FILE");
  add_switch(verb, "--force", o->force, "replace an existing signature file");
  add_format(verb, context);
  add_compute(verb, context);
  add_logging(verb, context);
  verb.callback([o, &context] { context.run = [o, &context] { return run(*o, context); }; });
}

}  // namespace coppice
