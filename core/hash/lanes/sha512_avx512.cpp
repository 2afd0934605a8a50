// SHA-512 in 2 x 8 lanes for AVX-512.
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha512_lanes.inl"

namespace coppice {
namespace {

struct Avx512 {
  using Word = std::uint64_t;
  using V __attribute__((vector_size(64))) = std::uint64_t;
  using P = Pair<V>;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static P wide_field(const std::uint32_t* field) {
    return {widen_field<V, 8, false>(field), widen_field<V, 8, false>(field + 8)};
  }
};

}  // namespace

constinit const HashMany lanes::sha512_avx512 = {
    "avx512", HashId::sha512, 16, 8, true, sha512_digest<Avx512>, sha512_chain<Avx512>};

}  // namespace coppice
