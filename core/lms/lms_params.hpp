// LM-OTS and LMS parameter sets as rows of data. RFC 8554 sections 4.1 and 5.1, SP 800-208 section 4,
// RFC 9858 section 3.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/hash/hash_id.hpp"

namespace coppice {

inline constexpr std::size_t kIdentifierBytes = 16;  // I
inline constexpr std::size_t kMaxNode = 32;          // largest n and m
inline constexpr std::size_t kMaxSeed = 32;
inline constexpr std::size_t kMaxHssLevels = 8;      // RFC 8554 section 6

struct LmOtsParams {
  std::uint32_t type;     // IANA typecode
  std::string_view name;  // IANA name
  HashId hash;
  unsigned n;   // bytes of a hash value
  unsigned w;   // Winternitz width in bits
  unsigned p;   // number of chains
  unsigned ls;  // left shift of the checksum

  [[nodiscard]] constexpr unsigned steps() const noexcept { return (1U << w) - 1; }
  [[nodiscard]] constexpr std::size_t signature_bytes() const noexcept {
    return 4 + std::size_t{n} * (p + 1);
  }
};

struct LmsParams {
  std::uint32_t type;
  std::string_view name;
  HashId hash;
  unsigned m;  // bytes of a node
  unsigned h;  // tree height
};

// One tree: both rows have the same hash and m == n (SP 800-208 section 4).
struct LmsPair {
  const LmsParams* lms = nullptr;
  const LmOtsParams* ots = nullptr;

  [[nodiscard]] std::size_t public_key_bytes() const noexcept { return 8 + kIdentifierBytes + lms->m; }
  [[nodiscard]] std::size_t signature_bytes() const noexcept {
    return 8 + ots->signature_bytes() + std::size_t{lms->m} * lms->h;
  }
  [[nodiscard]] std::string name() const;  // "LMS_SHA256_M32_H20/LMOTS_SHA256_N32_W8"
  bool operator==(const LmsPair&) const = default;
};

[[nodiscard]] std::span<const LmOtsParams> all_lm_ots_params() noexcept;
[[nodiscard]] std::span<const LmsParams> all_lms_params() noexcept;
[[nodiscard]] const LmOtsParams* find_lm_ots(std::uint32_t type) noexcept;  // nullptr: unknown
[[nodiscard]] const LmsParams* find_lms(std::uint32_t type) noexcept;

// The pair of two typecodes; `problem` receives why there is none: "unknown LMS type 99", ...
[[nodiscard]] bool make_pair(std::uint32_t lms_type, std::uint32_t ots_type, LmsPair& out,
                             std::string& problem);

// The levels of an HSS key, top first; one level is a plain LMS tree. RFC 8554 section 6.
struct HssParams {
  std::vector<LmsPair> levels;

  [[nodiscard]] unsigned total_height() const noexcept;
  // Number of signatures, saturated at 2^64 - 1 (one leaf of a 2^64 key is never used).
  [[nodiscard]] std::uint64_t capacity() const noexcept;
  [[nodiscard]] std::size_t public_key_bytes() const noexcept { return 4 + levels.front().public_key_bytes(); }
  [[nodiscard]] std::size_t signature_bytes() const noexcept;
  // Leaf used at `level` by the signature with this index over the whole hypertree.
  [[nodiscard]] std::uint64_t leaf_at(std::size_t level, std::uint64_t index) const noexcept;
  // Which tree of `level` that leaf is in: the index without the bits of this and lower levels.
  [[nodiscard]] std::uint64_t tree_at(std::size_t level, std::uint64_t index) const noexcept;
  [[nodiscard]] std::string name() const;  // pairs joined by commas
  bool operator==(const HssParams&) const = default;
};

// Parses "LMS_SHA256_M32_H20/LMOTS_SHA256_N32_W8", short "20/8" with the hash of `hash`
// (sha256 | sha256-192 | shake256 | shake256-192), levels joined by commas. Errc::usage with the
// remedy for unknown names, mixed hashes or more than 8 levels.
[[nodiscard]] HssParams parse_hss_params(std::string_view text, std::string_view hash = "sha256");

}  // namespace coppice
