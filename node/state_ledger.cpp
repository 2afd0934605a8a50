// NAME.state in SQLite: reserve, then sign. RFC 8554 section 9.2, SP 800-208 sections 6.1 and 8.1.
//
// No code of this process may open() and close() the file besides SQLite: closing any descriptor of
// it drops the POSIX locks that keep two processes apart.
#include "node/state_ledger.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "core/encode/hex.hpp"
#include "core/sys/random.hpp"
#include "node/atomic_file.hpp"
#include "node/ledger_file.hpp"
#include "node/sqlite_db.hpp"

namespace coppice {
namespace {

constexpr int kBusyMilliseconds = 10'000;

}  // namespace

struct StateLedger::Impl {
  Impl(const std::string& name, const KeyId& id, std::uint64_t signatures)
      : db(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX), key(id), capacity(signatures) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (::getpid() != owner) db.abandon();
  }

  void check_owner() const {
    if (::getpid() != owner) {
      fail(Errc::internal,
           db.name() + ": the ledger was opened before fork(); open it in the child");
    }
  }

  // The row, verified: every number that leaves this file went through here.
  LedgerState read() {
    check_owner();
    SqliteStatement row(db, "SELECT key,capacity,next,children,checksum FROM state");
    if (!row.step()) fail_ledger_damaged(db.name(), "its state is missing");
    LedgerState state;
    LedgerWord w{};
    row.blob(0, state.key);
    row.blob(1, w);
    state.capacity = load_be64(w.data());
    row.blob(2, w);
    state.next = load_be64(w.data());
    row.blob(3, w);
    state.children = load_be64(w.data());
    LedgerDigest checksum{};
    row.blob(4, checksum);
    if (checksum != state.checksum())
      fail_ledger_damaged(db.name(), "the checksum of its state is wrong");
    if (state.key != key) {
      fail(Errc::bad_data, db.name() + ": the ledger belongs to another key (its id is " +
                               to_hex(state.key) + ", this key's is " + to_hex(key) + ")");
    }
    if (state.capacity != capacity) {
      fail_ledger_damaged(db.name(), "it is for " + std::to_string(state.capacity) +
                                         " signatures, the key for " + std::to_string(capacity));
    }
    if (state.next > capacity)
      fail_ledger_damaged(db.name(), "its next index is past the end of the key");
    // What one process has seen cannot be undone, whatever somebody copied over the file meanwhile.
    if (state.next < seen_next || state.children < seen_children) {
      fail_ledger_damaged(db.name(), "it went back to an older state while in use");
    }
    seen_next = state.next;
    seen_children = state.children;
    return state;
  }

  void write(const LedgerState& state) {
    const LedgerWord next = ledger_word(state.next);
    const LedgerWord children = ledger_word(state.children);
    const LedgerDigest checksum = state.checksum();
    SqliteStatement(db, "UPDATE state SET next=?,children=?,checksum=? WHERE one=1")
        .bind(1, next)
        .bind(2, children)
        .bind(3, checksum)
        .run();
    if (sqlite3_changes(db.get()) != 1) fail_ledger_damaged(db.name(), "its state is missing");
  }

  // Every row, not only their number: one whose level or tree was damaged would not be found under
  // its own name and be drawn anew.
  void check_children(const LedgerState& state) {
    SqliteStatement row(db,
                        "SELECT level,tree,seed,identifier,checksum FROM children "
                        "ORDER BY level,tree");
    std::uint64_t count = 0;
    for (LmsTreeSecret child; row.step(); ++count) {
      LedgerWord tree{};
      row.blob(1, tree);
      take_child(row, 2, static_cast<unsigned>(row.integer(0)), load_be64(tree.data()), child);
    }
    if (count != state.children) fail_ledger_damaged(db.name(), "child trees are missing from it");
  }

  // Columns seed, identifier, checksum from `first` on; `child` is left empty unless they are
  // right.
  void take_child(SqliteStatement& row, int first, unsigned level, std::uint64_t tree,
                  LmsTreeSecret& child) {
    child.seed.clear();
    child.seed_bytes = std::min(row.blob_bytes(first), kMaxSeed);
    row.blob(first, child.seed.writable().first(child.seed_bytes));
    row.blob(first + 1, child.identifier);
    LedgerDigest checksum{};
    row.blob(first + 2, checksum);
    if (checksum == ledger_child_checksum(key, level, tree, child)) return;
    child.seed.clear();
    fail_ledger_damaged(db.name(), "the checksum of tree " + std::to_string(tree) + " of level " +
                                       std::to_string(level) + " is wrong");
  }

  // False: not stored yet.
  bool find_child(unsigned level, std::uint64_t tree, std::size_t seed_bytes, LmsTreeSecret& out) {
    const LedgerWord tree_word = ledger_word(tree);
    SqliteStatement row(db,
                        "SELECT seed,identifier,checksum FROM children WHERE level=? AND tree=?");
    row.bind(1, std::int64_t{level}).bind(2, tree_word);
    if (!row.step()) return false;
    take_child(row, 0, level, tree, out);
    if (out.seed_bytes != seed_bytes) {
      out.seed.clear();
      fail_ledger_damaged(
          db.name(), "the SEED of a child tree has another length than its parameters ask for");
    }
    return true;
  }

  void insert_child(unsigned level, std::uint64_t tree, const LmsTreeSecret& child) {
    const LedgerWord tree_word = ledger_word(tree);
    const LedgerDigest checksum = ledger_child_checksum(key, level, tree, child);
    SqliteStatement(db, "INSERT INTO children VALUES(?,?,?,?,?)")
        .bind(1, std::int64_t{level})
        .bind(2, tree_word)
        .bind(3, child.seed_view())
        .bind(4, child.identifier)
        .bind(5, checksum)
        .run();
  }

  SqliteDb db;
  KeyId key;
  std::uint64_t capacity;
  pid_t owner = ::getpid();
  std::uint64_t seen_next = 0;
  std::uint64_t seen_children = 0;
  std::mutex mutex;  // a transaction belongs to the connection, so threads take turns
};

void StateLedger::create(const std::filesystem::path& path, const KeyId& key,
                         std::uint64_t capacity) {
  const std::string taken =
      ": already exists; a ledger is never overwritten (not by --force either). "
      "Choose another --name or --out";
  // SQLite would play a journal that was left by an earlier ledger of this name into the new one.
  for (const char* suffix : {"-journal", "-wal"}) {
    const std::filesystem::path left = path.string() + suffix;
    struct stat info {};
    if (::lstat(left.c_str(), &info) == 0) fail(Errc::exists, left.string() + taken);
  }
  // Made in memory and written in one piece: there is never half a ledger on disk.
  const Bytes image = ledger_image({key, capacity, 0, 0});
  try {
    write_file(path, image, FileMode::secret, Overwrite::refuse);
  } catch (const Error& e) {
    if (e.code() == Errc::exists) fail(Errc::exists, path.string() + taken);
    throw;
  }
}

StateLedger StateLedger::open(const std::filesystem::path& path, const KeyId& key,
                              std::uint64_t capacity) {
  check_ledger_file(path);
  auto impl = std::make_unique<Impl>(std::filesystem::absolute(path).string(), key, capacity);
  SqliteDb& db = impl->db;
  sqlite3_busy_timeout(db.get(), kBusyMilliseconds);
  // The schema of a hostile file can do nothing but be compared.
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  db.exec("PRAGMA cell_size_check=ON");
  db.exec("PRAGMA temp_store=MEMORY");
  if (db.text_of("PRAGMA journal_mode=DELETE") != "delete") {
    fail(Errc::unavailable, db.name() + ": the ledger cannot be switched to a rollback journal");
  }
  // EXTRA: the folder is synced after the journal is gone, or a power cut could bring it back and
  // with it the index before.
  db.exec("PRAGMA synchronous=EXTRA");
  db.exec("PRAGMA secure_delete=ON");
  if (db.text_of("PRAGMA synchronous") != "3") {
    fail(Errc::internal, db.name() + ": SQLite does not give synchronous=EXTRA");
  }
  check_ledger_database(db);
  {
    SqliteTransaction snapshot(db, SqliteTransaction::Kind::read);
    const LedgerState state = impl->read();
    check_ledger_length(db);
    impl->check_children(state);
  }
  // SQLite opens a file without write permission for reading.
  if (sqlite3_db_readonly(db.get(), "main") != 0) db.fail_code(SQLITE_READONLY);
  return StateLedger(std::move(impl));
}

StateLedger::StateLedger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateLedger::StateLedger(StateLedger&&) noexcept = default;
StateLedger::~StateLedger() = default;

std::uint64_t StateLedger::next() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->read().next;
}

std::uint64_t StateLedger::capacity() const { return impl_->capacity; }

IndexRange StateLedger::reserve(std::uint64_t count) {
  if (count == 0) fail(Errc::usage, "at least one signature index has to be reserved");
  const std::lock_guard lock(impl_->mutex);
  impl_->check_owner();  // after fork() nothing may touch the connection, not even BEGIN
  SqliteTransaction transaction(impl_->db, SqliteTransaction::Kind::write);
  LedgerState state = impl_->read();
  const std::uint64_t left = state.capacity - state.next;
  if (count > left) {
    fail(Errc::unavailable, impl_->db.name() + ": key is exhausted: " + std::to_string(left) +
                                " of " + std::to_string(state.capacity) + " signatures remain, " +
                                std::to_string(count) + " asked for");
  }
  const IndexRange range{state.next, state.next + count};
  state.next = range.last;
  impl_->write(state);
  transaction.commit();
  impl_->seen_next = range.last;
  return range;
}

void StateLedger::child_secret(unsigned level, std::uint64_t tree, std::size_t seed_bytes,
                               LmsTreeSecret& out) {
  if (seed_bytes == 0 || seed_bytes > kMaxSeed)
    fail(Errc::internal, "wrong length of a child's SEED");
  const std::lock_guard lock(impl_->mutex);
  impl_->check_owner();
  if (impl_->find_child(level, tree, seed_bytes, out)) return;

  SqliteTransaction transaction(impl_->db, SqliteTransaction::Kind::write);
  LedgerState state = impl_->read();
  if (impl_->find_child(level, tree, seed_bytes, out)) return;  // another process was faster
  impl_->check_children(state);
  LmsTreeSecret drawn;
  drawn.seed_bytes = seed_bytes;
  random_private_bytes(drawn.seed.writable().first(seed_bytes));
  random_private_bytes(drawn.identifier);
  impl_->insert_child(level, tree, drawn);
  ++state.children;
  impl_->write(state);
  transaction.commit();
  impl_->seen_children = state.children;
  out = std::move(drawn);  // only now: stored, then used
}

void LedgerChildren::child(unsigned level, std::uint64_t tree, const LmsPair& pair,
                           const LmsTreeSecret&, std::uint32_t, LmsTreeSecret& out) {
  ledger_.child_secret(level, tree, pair.lms->m, out);
}

}  // namespace coppice
