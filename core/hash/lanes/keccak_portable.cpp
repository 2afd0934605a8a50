// SHAKE256 in 2 lanes of 16-byte vectors, compiled for the baseline: SSE2, NEON or plain words.
#include "core/hash/lanes/keccak_lanes.inl"
#include "core/hash/lanes/kernels.hpp"

namespace coppice {
namespace {

struct Portable {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(16))) = std::uint64_t;
  static constexpr bool kBigEndian = false;
  static constexpr std::size_t kBlockWords = 17;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 2, true>(field); }
  static void permute(P* state) noexcept { keccak_permute_lanes(state); }
};

}  // namespace

constinit const HashMany lanes::keccak_portable = {
    "portable", HashId::shake256, 2, 8, false, shake256_digest<Portable>, shake256_chain<Portable>};

}  // namespace coppice
