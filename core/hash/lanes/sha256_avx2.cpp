// SHA-256 in 8 lanes for AVX2, on CPUs with neither AVX-512 nor SHA instructions.
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha256_fused.inl"

namespace coppice {
namespace {

struct Avx2 {
  using Word = std::uint32_t;
  using P __attribute__((vector_size(32))) = std::uint32_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static void compress(P* state, P* w) noexcept { sha256_compress_lanes(state, w); }
  template <class... Args>
  static bool fused_chain(const Args&...) noexcept {
    return false;
  }
  static std::size_t inner(const Message<Avx2>& message, std::size_t block, P* state) noexcept {
    return sha256_inner(message, block, state);
  }
};

}  // namespace

constinit const HashMany lanes::sha256_avx2 = {
    "avx2", HashId::sha256, 8, 4, true, sha256_fused_digest<Avx2>, sha256_fused_chain<Avx2>};

}  // namespace coppice
