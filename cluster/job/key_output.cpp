// The files of a key around its generation: refused before any work, started, finished.
#include "cluster/job/key_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/sys/random.hpp"
#include "node/signing_key.hpp"
#include "node/state_ledger.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;

void draw_secret(const KeygenRequest& request, HssKeyFile& key) {
  if (request.insecure) {
    key.top.seed = request.insecure->seed.duplicate();
    key.top.seed_bytes = request.insecure->seed_bytes;
    key.top.identifier = request.insecure->identifier;
    return;
  }
  key.top.seed_bytes = request.params.levels.front().lms->m;
  random_private_bytes(key.top.seed.writable().first(key.top.seed_bytes));
  random_private_bytes(key.top.identifier);
}

void check_resumed(const KeygenRequest& request, const HssKeyFile& key, const fs::path& path) {
  const auto refuse = [&](const std::string& what) {
    fail(Errc::usage, path.string() + " was started with " + what +
                          "; resume with the same flags, or choose another --name");
  };
  if (key.params != request.params) refuse(key.params.name());
  if (key.child_seeds != request.child_seeds) refuse("another kind of child seeds");
  if (request.cache_depth && *request.cache_depth != key.cache_depth) {
    refuse("a cache of " + std::to_string(key.cache_depth) + " rows");
  }
  if (request.insecure &&
      (!equal(request.insecure->seed_view(), key.top.seed_view()) ||
       request.insecure->identifier != key.top.identifier)) {
    refuse("another seed");
  }
}

void refuse_existing(const KeyPaths& files, bool force) {
  // SQLite would play a journal of an earlier ledger into the new one; found now, not after the work.
  for (const char* suffix : {"", "-journal", "-wal"}) {
    const fs::path ledger = files.state.string() + suffix;
    if (!fs::exists(fs::symlink_status(ledger))) continue;
    // A ledger is the only memory of which leaves are spent: no flag may destroy it.
    fail(Errc::exists, ledger.string() +
                           ": this name belongs to a key with a ledger, which --force never replaces; "
                           "choose another --name or --out");
  }
  if (force) return;
  for (const fs::path& path : {files.key, files.pub, files.cache, files.progress}) {
    if (!fs::exists(fs::symlink_status(path))) continue;
    fail(Errc::exists, path.string() +
                           ": already exists; choose another --name or --out, continue an unfinished "
                           "key with --resume, or replace it with --force");
  }
}

// SQLite's limit, less its own suffix: a longer path would make a key that nobody can open.
void check_ledger_path(const fs::path& state) {
  constexpr std::size_t kLongest = 500;
  const std::size_t length = fs::absolute(state).string().size();
  if (length > kLongest) {
    fail(Errc::usage, fmt::format("the path of the ledger would have {} bytes; SQLite opens up to {}: choose "
                                  "a shorter --out",
                                  length, kLongest));
  }
}

// A finished key that was met again: what can be written again is, a lost ledger is said.
void check_companions(const StartedKey& started, PublicForm form) {
  const KeyPaths& files = started.files;
  if (!fs::exists(files.state)) {
    fail(Errc::bad_data, files.key.string() + " is complete but its ledger " + files.state.string() +
                             " is gone: which leaves are spent is lost, so retire the key");
  }
  if (!fs::exists(files.pub)) {
    write_file(files.pub, encode_public_key(started.key.public_key(), form), FileMode::open,
               Overwrite::refuse);
  }
}

}  // namespace

StartedKey start_key(const KeygenRequest& request) {
  StartedKey started;
  started.files = KeyPaths::in(request.folder, request.name);
  prepare_folder(request.folder);
  check_ledger_path(started.files.state);
  const bool key_there = fs::exists(fs::symlink_status(started.files.key));
  if (request.resume && key_there) {
    started.key = load_key_file(started.files.key);
    check_resumed(request, started.key, started.files.key);
    started.already_complete = started.key.complete;
    if (started.already_complete) check_companions(started, request.form);
    return started;
  }
  refuse_existing(started.files, request.force);

  HssKeyFile& key = started.key;
  key.params = request.params;
  key.child_seeds = request.child_seeds;
  key.insecure_seed = request.insecure.has_value();
  const unsigned height = request.params.levels.front().lms->h;
  key.cache_depth = std::min(request.cache_depth.value_or(default_cache_depth(height)), height);
  key.created = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                               std::chrono::system_clock::now().time_since_epoch())
                                               .count());
  random_private_bytes(key.id);
  draw_secret(request, key);
  if (request.force) {  // an old public key or cache must not stand beside a new private key
    std::error_code ignored;
    fs::remove(started.files.pub, ignored);
    fs::remove(started.files.cache, ignored);
    fs::remove(started.files.progress, ignored);
  }
  const WipedBytes image = encode_key_file(key);
  write_file(started.files.key, image.view(), FileMode::secret,
             request.force ? Overwrite::replace : Overwrite::refuse);
  return started;
}

void finish_key(const StartedKey& started, const TreeCache& cache, PublicForm form) {
  HssKeyFile const& key = started.key;
  const KeyPaths& files = started.files;
  // The ledger first: of two runs that race for one name, the one that makes it has the key.
  // A ledger that a run killed right here left behind is taken over: no signature was possible yet.
  if (fs::exists(files.state)) {
    const StateLedger ledger = StateLedger::open(files.state, key.id, key.params.capacity());
    if (ledger.next() != 0) fail(Errc::internal, files.state.string() + " is in use already");
  } else {
    StateLedger::create(files.state, key.id, key.params.capacity());
  }
  write_file(files.cache, encode_cache_file(key, cache), FileMode::secret, Overwrite::replace);
  write_file(files.pub, encode_public_key(key.public_key(), form), FileMode::open, Overwrite::replace);
  const WipedBytes image = encode_key_file(key);
  write_file(files.key, image.view(), FileMode::secret, Overwrite::replace);
}

}  // namespace coppice
