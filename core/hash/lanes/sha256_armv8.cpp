// SHA-256 on the Armv8 SHA2 extension, four messages interleaved. FIPS 180-4 section 6.2.2.
#include <arm_neon.h>

#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha256_lanes.inl"

namespace coppice {
namespace {

struct ArmSha2 {
  using Word = std::uint32_t;
  using P __attribute__((vector_size(16))) = std::uint32_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static void compress(P* state, P* w) noexcept;
  template <class... Args>
  static std::size_t inner(const Args&...) noexcept {
    return 0;
  }
  template <class... Args>
  static bool fused_chain(const Args&...) noexcept {
    return false;
  }
};
using Row = ArmSha2::P;

// Four rows of words to the four words of each lane, or back.
COPPICE_INLINE void transpose(const Row* row, uint32x4_t* lane) {
  const uint32x4x2_t a = vtrnq_u32((uint32x4_t)row[0], (uint32x4_t)row[1]);
  const uint32x4x2_t b = vtrnq_u32((uint32x4_t)row[2], (uint32x4_t)row[3]);
  lane[0] = vcombine_u32(vget_low_u32(a.val[0]), vget_low_u32(b.val[0]));
  lane[1] = vcombine_u32(vget_low_u32(a.val[1]), vget_low_u32(b.val[1]));
  lane[2] = vcombine_u32(vget_high_u32(a.val[0]), vget_high_u32(b.val[0]));
  lane[3] = vcombine_u32(vget_high_u32(a.val[1]), vget_high_u32(b.val[1]));
}

[[gnu::noinline]] void ArmSha2::compress(P* state, P* w) noexcept {
  uint32x4_t abcd[4], efgh[4], m[4][4];
  transpose(state, abcd);
  transpose(state + 4, efgh);
  for (int q = 0; q < 4; ++q) transpose(w + 4 * q, m[q]);
  unrolled<0, 16>([&]<int Q>() __attribute__((always_inline)) {
    const uint32x4_t k = vld1q_u32(sha256_constants() + 4 * Q);
    unrolled<0, 4>([&]<int L>() __attribute__((always_inline)) {
      uint32x4_t& word = m[Q % 4][L];
      if constexpr (Q >= 4) {
        word = vsha256su1q_u32(vsha256su0q_u32(word, m[(Q + 1) % 4][L]), m[(Q + 2) % 4][L],
                               m[(Q + 3) % 4][L]);
      }
      const uint32x4_t kw = vaddq_u32(word, k);
      const uint32x4_t before = abcd[L];
      abcd[L] = vsha256hq_u32(abcd[L], efgh[L], kw);
      efgh[L] = vsha256h2q_u32(efgh[L], before, kw);
    });
  });
  uint32x4_t rows[8];
  transpose((const Row*)abcd, rows);
  transpose((const Row*)efgh, rows + 4);
  for (int i = 0; i < 8; ++i) state[i] = state[i] + (Row)rows[i];
}

}  // namespace

constinit const HashMany lanes::sha256_armv8 = {
    "armv8-sha2", HashId::sha256, 4, 4, true, sha256_digest<ArmSha2>, sha256_chain<ArmSha2>};

}  // namespace coppice
