// SHAKE256 in 8 lanes for AVX-512.
#include "core/hash/lanes/keccak_lanes.inl"
#include "core/hash/lanes/kernels.hpp"

namespace coppice {
namespace {

struct Avx512 {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(64))) = std::uint64_t;
  static constexpr bool kBigEndian = false;
  static constexpr std::size_t kBlockWords = 17;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 8, true>(field); }
  static void permute(P* state) noexcept { keccak_permute_lanes(state); }
};

}  // namespace

constinit const HashMany lanes::keccak_avx512 = {
    "avx512", HashId::shake256, 8, 8, false, shake256_digest<Avx512>, shake256_chain<Avx512>};

}  // namespace coppice
