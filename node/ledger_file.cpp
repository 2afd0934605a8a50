// The file under a ledger: schema, checksums, and what is proved before a row is believed.
// https://www.sqlite.org/howtocorrupt.html, docs/formats.md
#include "node/ledger_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/hash/sha256.hpp"
#include "node/atomic_file.hpp"

namespace coppice {
namespace {

// 64-bit numbers are BLOBs of 8 bytes, big-endian: SQLite's integers are signed and would change
// the type of their cell with their size. Schema texts are compared at open.
constexpr std::string_view kStateSql =
    "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one=1),key BLOB NOT NULL,"
    "capacity BLOB NOT NULL,next BLOB NOT NULL,children BLOB NOT NULL,checksum BLOB NOT NULL)";
constexpr std::string_view kChildrenSql =
    "CREATE TABLE children(level INTEGER NOT NULL,tree BLOB NOT NULL,seed BLOB NOT NULL,"
    "identifier BLOB NOT NULL,checksum BLOB NOT NULL,PRIMARY KEY(level,tree)) WITHOUT ROWID";
constexpr const char* kApplicationId = "1129271379";  // 0x434f5053, "COPS"
constexpr const char* kVersion = "1";

}  // namespace

LedgerWord ledger_word(std::uint64_t v) noexcept {
  LedgerWord w{};
  store_be64(w.data(), v);
  return w;
}

LedgerDigest LedgerState::checksum() const noexcept {
  Sha256 hash;
  hash.update(as_bytes("coppice ledger state 1"));
  hash.update(key);
  for (const std::uint64_t v : {capacity, next, children}) hash.update(ledger_word(v));
  LedgerDigest digest{};
  hash.final(digest);
  return digest;
}

LedgerDigest ledger_child_checksum(const KeyId& key, unsigned level, std::uint64_t tree,
                                   const LmsTreeSecret& child) noexcept {
  Sha256 hash;
  hash.update(as_bytes("coppice ledger child 1"));
  hash.update(key);
  for (const std::uint64_t v : {std::uint64_t{level}, tree, std::uint64_t{child.seed_bytes}}) {
    hash.update(ledger_word(v));
  }
  hash.update(child.seed_view());
  hash.update(child.identifier);
  LedgerDigest digest{};
  hash.final(digest);
  return digest;
}

void fail_ledger_damaged(const std::string& name, const std::string& why) {
  fail(Errc::bad_data, name + ": the ledger is damaged: " + why +
                           ". Do not sign with this key until it is known which indices were used");
}

Bytes ledger_image(const LedgerState& state) {
  SqliteDb db(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  db.exec("PRAGMA page_size=4096");
  db.exec(("PRAGMA application_id=" + std::string(kApplicationId)).c_str());
  db.exec(("PRAGMA user_version=" + std::string(kVersion)).c_str());
  db.exec(std::string(kStateSql).c_str());
  db.exec(std::string(kChildrenSql).c_str());
  const LedgerWord capacity = ledger_word(state.capacity);
  const LedgerWord next = ledger_word(state.next);
  const LedgerWord children = ledger_word(state.children);
  const LedgerDigest checksum = state.checksum();
  SqliteStatement(db, "INSERT INTO state VALUES(1,?,?,?,?,?)")
      .bind(1, state.key)
      .bind(2, capacity)
      .bind(3, next)
      .bind(4, children)
      .bind(5, checksum)
      .run();
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> image(
      sqlite3_serialize(db.get(), "main", &size, 0), sqlite3_free);
  if (!image) fail(Errc::unavailable, "not enough memory for a ledger");
  return {image.get(), image.get() + size};
}

void check_ledger_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    fail_errno(errno,
               "cannot open the ledger '" + name + "', without which this key must not sign");
  }
  if (!S_ISREG(info.st_mode)) fail(Errc::bad_data, name + ": the ledger is not a regular file");
  if (info.st_size == 0) fail_ledger_damaged(name, "it is empty");
  // SQLite names the rollback journal after the file: under a second name nobody would find it.
  if (info.st_nlink != 1) {
    fail(Errc::bad_data, name + ": the ledger has " + std::to_string(info.st_nlink) +
                             " names (hard links); remove all but one");
  }
}

// Identity and soundness of an opened file, before any of its rows is believed.
void check_ledger_database(SqliteDb& db) {
  if (db.text_of("PRAGMA application_id") != kApplicationId) {
    fail_ledger_damaged(db.name(), "it is an SQLite database of another program");
  }
  if (const std::string version = db.text_of("PRAGMA user_version"); version != kVersion) {
    fail(Errc::bad_data,
         db.name() + ": ledger version " + version + " is unknown; this program knows version 1");
  }
  if (const std::string result = db.text_of("PRAGMA quick_check(1)"); result != "ok") {
    fail_ledger_damaged(db.name(), result);
  }
  SqliteStatement schema(db, "SELECT sql FROM sqlite_schema ORDER BY name");
  for (const std::string_view expected : {kChildrenSql, kStateSql}) {
    if (!schema.step() || schema.text(0) != expected)
      fail_ledger_damaged(db.name(), "its tables are others");
  }
  if (schema.step()) fail_ledger_damaged(db.name(), "it has tables that are not ours");
}

// SQLite reads a last page that was cut off as if zeros followed. Called under a read lock, so that
// nobody is just making the file longer and the rollback of a killed process is done.
void check_ledger_length(SqliteDb& db) {
  const auto number = [&](const char* sql) {
    return std::strtoll(db.text_of(sql).c_str(), nullptr, 10);
  };
  struct stat info {};
  if (::stat(db.name().c_str(), &info) != 0) fail_errno(errno, "cannot read '" + db.name() + "'");
  if (info.st_size != number("PRAGMA page_count") * number("PRAGMA page_size")) {
    fail_ledger_damaged(db.name(), "it has lost its end");
  }
}

}  // namespace coppice
