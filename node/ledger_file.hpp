// The file under a ledger: schema, checksums, and what is proved before a row is believed.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/bytes.hpp"
#include "core/lms/lm_ots.hpp"
#include "node/key_file.hpp"
#include "node/sqlite_db.hpp"

namespace coppice {

using LedgerDigest = std::array<std::uint8_t, 32>;
using LedgerWord = std::array<std::uint8_t, 8>;  // u64, big-endian

[[nodiscard]] LedgerWord ledger_word(std::uint64_t v) noexcept;

// The one row of table state. `children` counts the rows of that table: a lost row would be drawn
// anew, and the parent's leaf would sign two different public keys.
struct LedgerState {
  KeyId key{};
  std::uint64_t capacity = 0;
  std::uint64_t next = 0;
  std::uint64_t children = 0;

  [[nodiscard]] LedgerDigest checksum() const noexcept;
};

[[nodiscard]] LedgerDigest ledger_child_checksum(const KeyId& key, unsigned level,
                                                 std::uint64_t tree,
                                                 const LmsTreeSecret& child) noexcept;

// Errc::bad_data: `name`, `why`, and that signing has to wait.
[[noreturn]] void fail_ledger_damaged(const std::string& name, const std::string& why);

// A whole new database with this row, as the bytes of its file.
[[nodiscard]] Bytes ledger_image(const LedgerState& state);

// Before SQLite opens it: missing (io), no regular file, empty, several names (bad_data).
void check_ledger_file(const std::filesystem::path& path);
// After: ours, of this version, sound, with exactly our tables. Plays a killed writer's journal
// back.
void check_ledger_database(SqliteDb& db);
// Under a read lock: the file has all its pages.
void check_ledger_length(SqliteDb& db);

}  // namespace coppice
