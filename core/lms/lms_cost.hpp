// What growing a tree costs, exactly: compressions (SHA-256) or permutations (SHAKE256). RFC 8554.
#pragma once

#include <cstdint>

#include "core/lms/lms_params.hpp"

namespace coppice {

// Hash-function calls of one whole leaf: secrets, chains, public-key hash, leaf hash.
[[nodiscard]] constexpr std::uint64_t leaf_cost(const LmsPair& pair) noexcept {
  const std::uint64_t p = pair.ots->p;
  const std::uint64_t key_bytes = 22 + p * pair.ots->n;  // I || q || D_PBLC || z
  const std::uint64_t key_hash = pair.lms->hash == HashId::sha256 ? (key_bytes + 8) / 64 + 1
                                                                  : key_bytes / 136 + 1;
  return p * (1 + pair.ots->steps()) + key_hash + 1;
}

[[nodiscard]] constexpr std::uint64_t inner_node_cost(const LmsPair& pair) noexcept {
  return pair.lms->hash == HashId::sha256 ? 2 : 1;
}

[[nodiscard]] constexpr std::uint64_t tree_cost(const LmsPair& pair) noexcept {
  const std::uint64_t leaves = std::uint64_t{1} << pair.lms->h;
  return leaves * leaf_cost(pair) + (leaves - 1) * inner_node_cost(pair);
}

}  // namespace coppice
