// SHA-256 in 2 x 16 lanes for AVX-512 (F, BW, VL, DQ, VBMI2).
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha256_fused.inl"

namespace coppice {
namespace {

struct Avx512 {
  using Word = std::uint32_t;
  using V __attribute__((vector_size(64))) = std::uint32_t;
  using P = Pair<V>;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static void compress(P* state, P* w) noexcept { sha256_compress_lanes(state, w); }
  template <class... Args>
  static bool fused_chain(const Args&...) noexcept {
    return false;
  }
  static std::size_t inner(const Message<Avx512>& message, std::size_t block, P* state) noexcept {
    return sha256_inner(message, block, state);
  }
};

}  // namespace

constinit const HashMany lanes::sha256_avx512 = {
    "avx512", HashId::sha256, 32, 4, true, sha256_fused_digest<Avx512>, sha256_fused_chain<Avx512>};

}  // namespace coppice
