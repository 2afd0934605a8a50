// SHAKE256 in 2 lanes on the Armv8.2 SHA3 extension: EOR3, RAX1, XAR and BCAX. FIPS 202 section 3.
#include <arm_neon.h>

#include "core/hash/lanes/keccak_lanes.inl"
#include "core/hash/lanes/kernels.hpp"

namespace coppice {
namespace {

struct ArmSha3 {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(16))) = std::uint64_t;
  static constexpr bool kBigEndian = false;
  static constexpr std::size_t kBlockWords = 17;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 2, true>(field); }
  static void permute(P* state) noexcept;
};

// Theta, rho and pi of one word; XAR rotates right.
template <int Left>
COPPICE_INLINE uint64x2_t moved(uint64x2_t a, uint64x2_t d) {
  return vxarq_u64(a, d, (64 - Left) % 64);
}

COPPICE_INLINE void round(const uint64x2_t* a, uint64x2_t* e, std::uint64_t constant) {
  uint64x2_t c[5], d[5];
  unrolled<0, 5>([&]<int X>() __attribute__((always_inline)) {
    c[X] = veor3q_u64(veor3q_u64(a[X], a[X + 5], a[X + 10]), a[X + 15], a[X + 20]);
  });
  unrolled<0, 5>([&]<int X>() __attribute__((always_inline)) {
    d[X] = vrax1q_u64(c[(X + 4) % 5], c[(X + 1) % 5]);
  });
  const auto row = [&](int y, uint64x2_t b0, uint64x2_t b1, uint64x2_t b2, uint64x2_t b3,
                       uint64x2_t b4) __attribute__((always_inline)) {
    e[5 * y] = vbcaxq_u64(b0, b2, b1);
    e[5 * y + 1] = vbcaxq_u64(b1, b3, b2);
    e[5 * y + 2] = vbcaxq_u64(b2, b4, b3);
    e[5 * y + 3] = vbcaxq_u64(b3, b0, b4);
    e[5 * y + 4] = vbcaxq_u64(b4, b1, b0);
  };
  row(0, veorq_u64(a[0], d[0]), moved<44>(a[6], d[1]), moved<43>(a[12], d[2]),
      moved<21>(a[18], d[3]), moved<14>(a[24], d[4]));
  e[0] = veorq_u64(e[0], vdupq_n_u64(constant));
  row(1, moved<28>(a[3], d[3]), moved<20>(a[9], d[4]), moved<3>(a[10], d[0]),
      moved<45>(a[16], d[1]), moved<61>(a[22], d[2]));
  row(2, moved<1>(a[1], d[1]), moved<6>(a[7], d[2]), moved<25>(a[13], d[3]), moved<8>(a[19], d[4]),
      moved<18>(a[20], d[0]));
  row(3, moved<27>(a[4], d[4]), moved<36>(a[5], d[0]), moved<10>(a[11], d[1]),
      moved<15>(a[17], d[2]), moved<56>(a[23], d[3]));
  row(4, moved<62>(a[2], d[2]), moved<55>(a[8], d[3]), moved<39>(a[14], d[4]),
      moved<41>(a[15], d[0]), moved<2>(a[21], d[1]));
}

[[gnu::noinline]] void ArmSha3::permute(P* state) noexcept {
  uint64x2_t a[25];
  unrolled<0, 25>([&]<int I>() __attribute__((always_inline)) { a[I] = (uint64x2_t)state[I]; });
  const std::uint64_t* k = keccak_constants();
  for (std::size_t r = 0; r < 24; r += 2) {
    uint64x2_t e[25];
    round(a, e, k[r]);
    round(e, a, k[r + 1]);
  }
  unrolled<0, 25>([&]<int I>() __attribute__((always_inline)) { state[I] = (P)a[I]; });
}

}  // namespace

constinit const HashMany lanes::keccak_armv8 = {
    "armv8-sha3", HashId::shake256, 2, 8, false, shake256_digest<ArmSha3>, shake256_chain<ArmSha3>};

}  // namespace coppice
