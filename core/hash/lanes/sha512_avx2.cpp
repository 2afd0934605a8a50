// SHA-512 in 4 lanes for AVX2.
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha512_lanes.inl"

namespace coppice {
namespace {

struct Avx2 {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(32))) = std::uint64_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 4, false>(field); }
};

}  // namespace

constinit const HashMany lanes::sha512_avx2 = {
    "avx2", HashId::sha512, 4, 8, true, sha512_digest<Avx2>, sha512_chain<Avx2>};

}  // namespace coppice
