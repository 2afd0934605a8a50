// Key files of cisco/hash-sigs in its ACVP-compatible derivation (SECRET_METHOD 2): .prv and .aux.
#pragma once

#include "core/base/bytes.hpp"
#include "core/lms/lm_ots.hpp"
#include "core/lms/lms_params.hpp"
#include "core/merkle/tree_cache.hpp"

namespace coppice {

inline constexpr std::size_t kHashSigsPrivateBytes = 64;
inline constexpr std::size_t kHashSigsDefaultAux = 10916;  // default byte budget of its key generator

// What a .prv file holds: u64 next index || 8 bytes lmsType << 4 | otsType || SEED(32) || I(16).
struct HashSigsPrivateKey {
  HssParams params;
  std::uint64_t next = 0;  // all ones after exhaustion
  LmsTreeSecret top;
};

// Errc::bad_data for another length, types that the tool does not know or an index past the end.
[[nodiscard]] HashSigsPrivateKey decode_hash_sigs_private(ByteView file);
// Errc::usage when the tool cannot hold this set (it knows SHA-256, n = 32 only).
[[nodiscard]] WipedBytes encode_hash_sigs_private(const HashSigsPrivateKey& key);

// .aux: marker, rows of the top tree, MAC. Rows h mod 2, h mod 2 + 2, ... as the budget allows;
// `cache` must cover them. One zero byte when not even the first row fits.
[[nodiscard]] Bytes encode_hash_sigs_aux(const LmsPair& top, const LmsTreeSecret& secret,
                                         const TreeCache& cache, std::size_t budget);
// Deepest row that encode_hash_sigs_aux() will ask for, 0 for none.
[[nodiscard]] unsigned hash_sigs_aux_depth(const LmsPair& top, std::size_t budget) noexcept;

}  // namespace coppice
