// NAME.state: the ledger of a stateful key. An index is durable here before its signature exists.
// RFC 8554 section 9, SP 800-208 section 8.1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/lms/hss.hpp"
#include "node/key_file.hpp"

namespace coppice {

// Half-open range of signature indices.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// SQLite, rollback journal, synchronous=EXTRA (the journal's folder entry is synced too: after a power
// cut a committed index cannot come back). Each row that matters carries a checksum bound to the key.
class StateLedger {
 public:
  // Makes the file (0600, never over an existing one) with next = 0 of `capacity`.
  static void create(const std::filesystem::path& path, const KeyId& key, std::uint64_t capacity);
  // Errc::io when missing, bad_data when damaged or of another key, permission, unavailable.
  static StateLedger open(const std::filesystem::path& path, const KeyId& key, std::uint64_t capacity);

  StateLedger(StateLedger&&) noexcept;
  ~StateLedger();

  [[nodiscard]] std::uint64_t next() const;       // first index never handed out
  [[nodiscard]] std::uint64_t capacity() const;
  [[nodiscard]] std::uint64_t remaining() const { return capacity() - next(); }

  // Hands out `count` indices, durably, before it returns; concurrent processes get disjoint ranges.
  // Compare-and-advance: Errc::unavailable "key is exhausted" without any change when fewer remain.
  [[nodiscard]] IndexRange reserve(std::uint64_t count);

  // Independent child trees (SP 800-208): the (SEED, I) of tree `tree` at `level`; drawn from the
  // random generator and stored the first time, the same ever after.
  void child_secret(unsigned level, std::uint64_t tree, std::size_t seed_bytes, LmsTreeSecret& out);

 private:
  struct Impl;
  explicit StateLedger(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ChildSource over the ledger: draws from the random generator, stores, then uses.
class LedgerChildren final : public ChildSource {
 public:
  explicit LedgerChildren(StateLedger& ledger) : ledger_(ledger) {}
  void child(unsigned level, std::uint64_t tree, const LmsPair& pair, const LmsTreeSecret& parent,
             std::uint32_t parent_q, LmsTreeSecret& out) override;

 private:
  StateLedger& ledger_;
};

}  // namespace coppice
