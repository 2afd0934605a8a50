// SHAKE256 in 4 lanes for AVX2.
#include "core/hash/lanes/keccak_lanes.inl"
#include "core/hash/lanes/kernels.hpp"

namespace coppice {
namespace {

struct Avx2 {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(32))) = std::uint64_t;
  static constexpr bool kBigEndian = false;
  static constexpr std::size_t kBlockWords = 17;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 4, true>(field); }
  static void permute(P* state) noexcept { keccak_permute_lanes(state); }
};

}  // namespace

constinit const HashMany lanes::keccak_avx2 = {
    "avx2", HashId::shake256, 4, 8, false, shake256_digest<Avx2>, shake256_chain<Avx2>};

}  // namespace coppice
