// NAME.state in SQLite: reserve, then sign. RFC 8554 section 9.2, SP 800-208 sections 6.1 and 8.1.
//
// No code of this process may open() and close() the file besides SQLite: closing any descriptor of it
// drops the POSIX locks that keep two processes apart.
#include "node/state_ledger.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <string_view>

#include "core/encode/hex.hpp"
#include "core/hash/sha256.hpp"
#include "core/sys/random.hpp"
#include "node/atomic_file.hpp"
#include "node/sqlite_db.hpp"

namespace coppice {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr std::size_t kDigest = 32;

// 64-bit numbers are BLOBs of 8 bytes, big-endian: SQLite's integers are signed and would change the
// type of their cell with their size. Schema texts are compared at open.
constexpr std::string_view kStateSql =
    "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one=1),key BLOB NOT NULL,capacity BLOB NOT NULL,"
    "next BLOB NOT NULL,children BLOB NOT NULL,checksum BLOB NOT NULL)";
constexpr std::string_view kChildrenSql =
    "CREATE TABLE children(level INTEGER NOT NULL,tree BLOB NOT NULL,seed BLOB NOT NULL,"
    "identifier BLOB NOT NULL,checksum BLOB NOT NULL,PRIMARY KEY(level,tree)) WITHOUT ROWID";
constexpr const char* kApplicationId = "1129271379";  // 0x434f5053, "COPS"
constexpr const char* kVersion = "1";

using Digest = std::array<std::uint8_t, kDigest>;
using Word = std::array<std::uint8_t, 8>;

Word word(std::uint64_t v) noexcept {
  Word w{};
  store_be64(w.data(), v);
  return w;
}

// The one row of table state. `children` counts the rows of that table: a lost row would be drawn
// anew, and the parent's leaf would sign two different public keys.
struct State {
  KeyId key{};
  std::uint64_t capacity = 0;
  std::uint64_t next = 0;
  std::uint64_t children = 0;

  [[nodiscard]] Digest checksum() const noexcept {
    Sha256 hash;
    hash.update(as_bytes("coppice ledger state 1"));
    hash.update(key);
    for (const std::uint64_t v : {capacity, next, children}) hash.update(word(v));
    Digest digest{};
    hash.final(digest);
    return digest;
  }
};

Digest child_checksum(const KeyId& key, unsigned level, std::uint64_t tree, const LmsTreeSecret& child) {
  Sha256 hash;
  hash.update(as_bytes("coppice ledger child 1"));
  hash.update(key);
  for (const std::uint64_t v : {std::uint64_t{level}, tree, std::uint64_t{child.seed_bytes}}) {
    hash.update(word(v));
  }
  hash.update(child.seed_view());
  hash.update(child.identifier);
  Digest digest{};
  hash.final(digest);
  return digest;
}

[[noreturn]] void fail_damaged(const std::string& name, const std::string& why) {
  fail(Errc::bad_data, name + ": the ledger is damaged: " + why +
                           ". Do not sign with this key until it is known which indices were used");
}

void insert_state(SqliteDb& db, const State& state) {
  const Word capacity = word(state.capacity);
  const Word next = word(state.next);
  const Word children = word(state.children);
  const Digest checksum = state.checksum();
  SqliteStatement(db, "INSERT INTO state VALUES(1,?,?,?,?,?)")
      .bind(1, state.key)
      .bind(2, capacity)
      .bind(3, next)
      .bind(4, children)
      .bind(5, checksum)
      .run();
}

void refuse_foreign_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    fail_errno(errno, "cannot open the ledger '" + name + "', without which this key must not sign");
  }
  if (!S_ISREG(info.st_mode)) fail(Errc::bad_data, name + ": the ledger is not a regular file");
  if (info.st_size == 0) fail_damaged(name, "it is empty");
  // SQLite names the rollback journal after the file: under a second name nobody would find it.
  if (info.st_nlink != 1) {
    fail(Errc::bad_data, name + ": the ledger has " + std::to_string(info.st_nlink) +
                             " names (hard links); remove all but one");
  }
}

// Identity and soundness of an opened file, before any of its rows is believed.
void check_database(SqliteDb& db) {
  if (db.text_of("PRAGMA application_id") != kApplicationId) {
    fail_damaged(db.name(), "it is an SQLite database of another program");
  }
  if (const std::string version = db.text_of("PRAGMA user_version"); version != kVersion) {
    fail(Errc::bad_data, db.name() + ": ledger version " + version +
                             " is unknown; this program knows version 1");
  }
  if (const std::string result = db.text_of("PRAGMA quick_check(1)"); result != "ok") {
    fail_damaged(db.name(), result);
  }
  SqliteStatement schema(db, "SELECT sql FROM sqlite_schema ORDER BY name");
  for (const std::string_view expected : {kChildrenSql, kStateSql}) {
    if (!schema.step() || schema.text(0) != expected) fail_damaged(db.name(), "its tables are others");
  }
  if (schema.step()) fail_damaged(db.name(), "it has tables that are not ours");
}

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
      fail(Errc::internal, db.name() + ": the ledger was opened before fork(); open it in the child");
    }
  }

  // The row, verified: every number that leaves this file went through here.
  State read() {
    check_owner();
    SqliteStatement row(db, "SELECT key,capacity,next,children,checksum FROM state");
    if (!row.step()) fail_damaged(db.name(), "its state is missing");
    State state;
    Word w{};
    row.blob(0, state.key);
    row.blob(1, w);
    state.capacity = load_be64(w.data());
    row.blob(2, w);
    state.next = load_be64(w.data());
    row.blob(3, w);
    state.children = load_be64(w.data());
    Digest checksum{};
    row.blob(4, checksum);
    if (checksum != state.checksum()) fail_damaged(db.name(), "the checksum of its state is wrong");
    if (state.key != key) {
      fail(Errc::bad_data, db.name() + ": the ledger belongs to another key (its id is " +
                               to_hex(state.key) + ", this key's is " + to_hex(key) + ")");
    }
    if (state.capacity != capacity) {
      fail_damaged(db.name(), "it is for " + std::to_string(state.capacity) + " signatures, the key for " +
                                  std::to_string(capacity));
    }
    if (state.next > capacity) fail_damaged(db.name(), "its next index is past the end of the key");
    // What one process has seen cannot be undone, whatever somebody copied over the file meanwhile.
    if (state.next < seen_next || state.children < seen_children) {
      fail_damaged(db.name(), "it went back to an older state while in use");
    }
    seen_next = state.next;
    seen_children = state.children;
    return state;
  }

  void write(const State& state) {
    const Word next = word(state.next);
    const Word children = word(state.children);
    const Digest checksum = state.checksum();
    SqliteStatement(db, "UPDATE state SET next=?,children=?,checksum=? WHERE one=1")
        .bind(1, next)
        .bind(2, children)
        .bind(3, checksum)
        .run();
    if (sqlite3_changes(db.get()) != 1) fail_damaged(db.name(), "its state is missing");
  }

  void check_children(const State& state) {
    SqliteStatement count(db, "SELECT count(*) FROM children");
    if (!count.step() || static_cast<std::uint64_t>(count.integer(0)) != state.children) {
      fail_damaged(db.name(), "child trees are missing from it");
    }
  }

  // False: not stored yet.
  bool find_child(unsigned level, std::uint64_t tree, std::size_t seed_bytes, LmsTreeSecret& out) {
    const Word tree_word = word(tree);
    SqliteStatement row(db, "SELECT seed,identifier,checksum FROM children WHERE level=? AND tree=?");
    row.bind(1, std::int64_t{level}).bind(2, tree_word);
    if (!row.step()) return false;
    out.seed.clear();
    out.seed_bytes = seed_bytes;
    row.blob(0, out.seed.writable().first(seed_bytes));
    row.blob(1, out.identifier);
    Digest checksum{};
    row.blob(2, checksum);
    if (checksum != child_checksum(key, level, tree, out)) {
      out.seed.clear();
      fail_damaged(db.name(), "the checksum of tree " + std::to_string(tree) + " of level " +
                                  std::to_string(level) + " is wrong");
    }
    return true;
  }

  void insert_child(unsigned level, std::uint64_t tree, const LmsTreeSecret& child) {
    const Word tree_word = word(tree);
    const Digest checksum = child_checksum(key, level, tree, child);
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

void StateLedger::create(const std::filesystem::path& path, const KeyId& key, std::uint64_t capacity) {
  const std::string taken = ": already exists; a ledger is never overwritten (not by --force either). "
                            "Choose another --name or --out";
  // SQLite would play a journal that was left by an earlier ledger of this name into the new one.
  for (const char* suffix : {"-journal", "-wal"}) {
    const std::filesystem::path left = path.string() + suffix;
    struct stat info {};
    if (::lstat(left.c_str(), &info) == 0) fail(Errc::exists, left.string() + taken);
  }
  // Made in memory and written in one piece: there is never half a ledger on disk.
  SqliteDb db(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  db.exec("PRAGMA page_size=4096");
  db.exec(("PRAGMA application_id=" + std::string(kApplicationId)).c_str());
  db.exec(("PRAGMA user_version=" + std::string(kVersion)).c_str());
  db.exec(std::string(kStateSql).c_str());
  db.exec(std::string(kChildrenSql).c_str());
  insert_state(db, {key, capacity, 0, 0});

  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> image(
      sqlite3_serialize(db.get(), "main", &size, 0), sqlite3_free);
  if (!image) fail(Errc::unavailable, path.string() + ": not enough memory for a ledger");
  try {
    write_file(path, {image.get(), static_cast<std::size_t>(size)}, FileMode::secret, Overwrite::refuse);
  } catch (const Error& e) {
    if (e.code() == Errc::exists) fail(Errc::exists, path.string() + taken);
    throw;
  }
}

StateLedger StateLedger::open(const std::filesystem::path& path, const KeyId& key,
                              std::uint64_t capacity) {
  refuse_foreign_file(path);
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
  // EXTRA: the folder is synced after the journal is gone, or a power cut could bring it back and with
  // it the index before.
  db.exec("PRAGMA synchronous=EXTRA");
  db.exec("PRAGMA secure_delete=ON");
  if (db.text_of("PRAGMA synchronous") != "3") {
    fail(Errc::internal, db.name() + ": SQLite does not give synchronous=EXTRA");
  }
  check_database(db);
  {
    SqliteTransaction snapshot(db, SqliteTransaction::Kind::read);
    impl->check_children(impl->read());
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
  State state = impl_->read();
  const std::uint64_t left = state.capacity - state.next;
  if (count > left) {
    fail(Errc::unavailable, impl_->db.name() + ": key is exhausted: " + std::to_string(left) + " of " +
                                std::to_string(state.capacity) + " signatures remain, " +
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
  if (seed_bytes == 0 || seed_bytes > kMaxSeed) fail(Errc::internal, "wrong length of a child's SEED");
  const std::lock_guard lock(impl_->mutex);
  impl_->check_owner();
  if (impl_->find_child(level, tree, seed_bytes, out)) return;

  SqliteTransaction transaction(impl_->db, SqliteTransaction::Kind::write);
  State state = impl_->read();
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
