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
  static bool fused_chain(const Message<Avx2>& message, const P* start, std::size_t counter,
                          std::uint32_t bits, const StepRange<Avx2>& range, std::size_t n,
                          std::uint32_t* digest) noexcept {
    return sha256_fused_chain(message, start, counter, bits, range, n, digest);
  }
};

}  // namespace

constinit const HashMany lanes::sha256_avx2 = {
    "avx2", HashId::sha256, 8, 4, true, sha256_digest<Avx2>, sha256_chain<Avx2>};

}  // namespace coppice
