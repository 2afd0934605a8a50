// SQLite behind RAII and the project's one error type. https://www.sqlite.org/rescode.html
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/bytes.hpp"

namespace coppice {

// An open database; errors name `name`. Extended result codes are on.
class SqliteDb {
 public:
  // `flags` as of sqlite3_open_v2; `name` is the file or ":memory:".
  SqliteDb(const std::string& name, int flags);

  void exec(const char* sql);
  // The first column of the first row of a PRAGMA, or "" without a row.
  [[nodiscard]] std::string text_of(const char* sql);
  [[nodiscard]] sqlite3* get() const noexcept { return db_.get(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // BUSY -> unavailable, FULL and IOERR -> io, CORRUPT and NOTADB -> bad_data, PERM and READONLY ->
  // permission; the message has the path, SQLite's reason and the remedy.
  [[noreturn]] void fail_code(int code) const;
  // Gives the connection up without closing it: after fork() closing would disturb the parent.
  void abandon() noexcept { (void)db_.release(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
  };
  [[nodiscard]] Error error_of(int code) const;
  std::string name_;
  std::unique_ptr<sqlite3, Close> db_;
};

// One prepared statement, used once. Bound views must live until the statement is gone.
class SqliteStatement {
 public:
  SqliteStatement(SqliteDb& db, const char* sql);

  SqliteStatement& bind(int index, std::int64_t value);
  SqliteStatement& bind(int index, ByteView blob);
  // True: a row is there. False: the statement is done.
  [[nodiscard]] bool step();
  void run();  // a statement without rows
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  // Errc::bad_data unless the column is a BLOB of out.size() bytes.
  void blob(int column, ByteSpan out) const;
  [[nodiscard]] std::size_t blob_bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
  };
  SqliteDb& db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One view of the database (read), or the right to change it (write: BEGIN IMMEDIATE, waits for
// other writers); rolled back unless committed.
class SqliteTransaction {
 public:
  enum class Kind { read, write };
  SqliteTransaction(SqliteDb& db, Kind kind);
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  ~SqliteTransaction();
  void commit();

 private:
  SqliteDb& db_;
};

}  // namespace coppice
