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
  static bool fused_chain(const Message<Avx512>& message, const P* start, std::size_t counter,
                          std::uint32_t bits, const StepRange<Avx512>& range, std::size_t n,
                          std::uint32_t* digest) noexcept {
    return sha256_fused_chain(message, start, counter, bits, range, n, digest);
  }
};

}  // namespace

constinit const HashMany lanes::sha256_avx512 = {
    "avx512", HashId::sha256, 32, 4, true, sha256_digest<Avx512>, sha256_chain<Avx512>};

}  // namespace coppice
