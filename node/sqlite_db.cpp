// SQLite behind RAII and the project's one error type. https://www.sqlite.org/rescode.html
#include "node/sqlite_db.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/checked_cast.hpp"

namespace coppice {

SqliteDb::SqliteDb(const std::string& name, int flags) : name_(name) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  db_.reset(db);  // even a failed open gives an object to close
  if (code != SQLITE_OK) fail_code(code);
  sqlite3_extended_result_codes(db, 1);
}

void SqliteDb::exec(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_code(code);
}

std::string SqliteDb::text_of(const char* sql) {
  SqliteStatement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string{};
}

Error SqliteDb::error_of(int code) const {
  const int system = db_ ? sqlite3_system_errno(db_.get()) : 0;
  const std::string reason =
      system != 0 ? std::generic_category().message(system) : std::string(sqlite3_errstr(code));
  const std::string detail = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  const bool denied = system == EACCES || system == EPERM || system == EROFS;
  if (code == SQLITE_READONLY_DBMOVED) {
    return {Errc::bad_data, name_ + ": was moved, removed or replaced while it was in use"};
  }
  switch (code & 0xff) {  // the primary code
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Errc::unavailable,
              name_ + ": ledger is locked by another process; run again when that has finished"};
    case SQLITE_FULL:
      return {Errc::io, name_ + ": disk full; free some space and run again"};
    case SQLITE_IOERR:
      return {Errc::io, name_ + ": read or write failed: " + reason};
    case SQLITE_CANTOPEN:
      return {denied ? Errc::permission : Errc::io, name_ + ": cannot open the ledger: " + reason};
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return {Errc::permission, name_ +
                                    ": the ledger may not be written; check the owner and mode "
                                    "of the file and its folder"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:  // our own SQL is right, so the schema in the file is not
      return {Errc::bad_data, name_ + ": the ledger is damaged (" + detail + ")"};
    case SQLITE_NOMEM:
      return {Errc::unavailable, name_ + ": not enough memory"};
    default:
      return {Errc::internal, name_ + ": unexpected answer of SQLite (" + detail + ")"};
  }
}

void SqliteDb::fail_code(int code) const { throw error_of(code); }

SqliteStatement::SqliteStatement(SqliteDb& db, const char* sql) : db_(db) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db.get(), sql, -1, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) db_.fail_code(code);
}

SqliteStatement& SqliteStatement::bind(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), index, value);
  if (code != SQLITE_OK) db_.fail_code(code);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, ByteView blob) {
  const int code = sqlite3_bind_blob(statement_.get(), index, blob.data(),
                                     checked_cast<int>(blob.size()), SQLITE_STATIC);
  if (code != SQLITE_OK) db_.fail_code(code);
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) db_.fail_code(code);
  return code == SQLITE_ROW;
}

void SqliteStatement::run() {
  if (step()) fail(Errc::internal, db_.name() + ": a row where none was expected");
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr
             ? std::string{}
             : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes));
}

std::size_t SqliteStatement::blob_bytes(int column) const {
  return static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
}

void SqliteStatement::blob(int column, ByteSpan out) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_BLOB ||
      blob_bytes(column) != out.size() || data == nullptr) {
    fail(Errc::bad_data, db_.name() + ": the ledger is damaged (a field has the wrong length)");
  }
  std::copy_n(static_cast<const std::uint8_t*>(data), out.size(), out.begin());
}

SqliteTransaction::SqliteTransaction(SqliteDb& db, Kind kind) : db_(db) {
  db_.exec(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

SqliteTransaction::~SqliteTransaction() {
  // Not after a commit, nor after an error upon which SQLite has rolled back by itself.
  if (sqlite3_get_autocommit(db_.get()) == 0) {
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void SqliteTransaction::commit() { db_.exec("COMMIT"); }

}  // namespace coppice
