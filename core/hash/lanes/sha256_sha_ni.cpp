// SHA-256 on the x86 SHA instructions, four messages interleaved. FIPS 180-4 section 6.2.2.
//
// One message alone is bound by the latency of SHA256RNDS2, four by its throughput. The instruction
// keeps the state of one message in two registers, (F E B A) and (H G D C) from low to high.
#include <immintrin.h>

#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha256_lanes.inl"

namespace coppice {
namespace {

struct ShaNi {
  using Word = std::uint32_t;
  using P __attribute__((vector_size(16))) = std::uint32_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static void compress(P* state, P* w) noexcept;
  template <class... Args>
  static std::size_t inner(const Args&...) noexcept {
    return 0;
  }
  static bool fused_chain(const Message<ShaNi>& message, const P* start, std::size_t counter,
                          std::uint32_t bits, const StepRange<ShaNi>& range, std::size_t n,
                          std::uint32_t* digest) noexcept;
};
using Row = ShaNi::P;

struct State {
  __m128i abef, cdgh;
};

// Four rows of words to the four words of each lane, or back.
COPPICE_INLINE void transpose(Row r0, Row r1, Row r2, Row r3, __m128i* lane) {
  const __m128i a = _mm_unpacklo_epi32((__m128i)r0, (__m128i)r1);
  const __m128i b = _mm_unpacklo_epi32((__m128i)r2, (__m128i)r3);
  const __m128i c = _mm_unpackhi_epi32((__m128i)r0, (__m128i)r1);
  const __m128i d = _mm_unpackhi_epi32((__m128i)r2, (__m128i)r3);
  lane[0] = _mm_unpacklo_epi64(a, b);
  lane[1] = _mm_unpackhi_epi64(a, b);
  lane[2] = _mm_unpacklo_epi64(c, d);
  lane[3] = _mm_unpackhi_epi64(c, d);
}

COPPICE_INLINE void load_states(const Row* rows, State* s) {
  __m128i abef[4], cdgh[4];
  transpose(rows[5], rows[4], rows[1], rows[0], abef);
  transpose(rows[7], rows[6], rows[3], rows[2], cdgh);
  for (int l = 0; l < 4; ++l) s[l] = {abef[l], cdgh[l]};
}

COPPICE_INLINE void store_states(const State* s, Row* rows) {
  __m128i feba[4], hgdc[4];
  transpose((Row)s[0].abef, (Row)s[1].abef, (Row)s[2].abef, (Row)s[3].abef, feba);
  transpose((Row)s[0].cdgh, (Row)s[1].cdgh, (Row)s[2].cdgh, (Row)s[3].cdgh, hgdc);
  rows[0] = (Row)feba[3];
  rows[1] = (Row)feba[2];
  rows[2] = (Row)hgdc[3];
  rows[3] = (Row)hgdc[2];
  rows[4] = (Row)feba[1];
  rows[5] = (Row)feba[0];
  rows[6] = (Row)hgdc[1];
  rows[7] = (Row)hgdc[0];
}

COPPICE_INLINE void four_rounds(State& s, __m128i kw) {
  s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, kw);
  s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(kw, 0x0e));
}

COPPICE_INLINE __m128i constants(int quad) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(sha256_constants()) + quad);
}

// Rounds 4 * From .. 63; m[q][l] is quad q of the message of lane l.
template <int From>
COPPICE_INLINE void rounds_from(State* s, __m128i (*m)[4]) {
  unrolled<From, 16>([&]<int Q>() __attribute__((always_inline)) {
    unrolled<0, 4>([&]<int L>() __attribute__((always_inline)) {
      __m128i& w = m[Q % 4][L];
      if constexpr (Q >= 4) {
        const __m128i before = m[(Q + 3) % 4][L];
        w = _mm_sha256msg1_epu32(w, m[(Q + 1) % 4][L]);
        w = _mm_add_epi32(w, _mm_alignr_epi8(before, m[(Q + 2) % 4][L], 4));
        w = _mm_sha256msg2_epu32(w, before);
      }
      four_rounds(s[L], _mm_add_epi32(w, constants(Q)));
    });
  });
}

[[gnu::noinline]] void ShaNi::compress(P* state, P* w) noexcept {
  State s[4];
  __m128i m[4][4];
  load_states(state, s);
  for (int q = 0; q < 4; ++q) transpose(w[4 * q], w[4 * q + 1], w[4 * q + 2], w[4 * q + 3], m[q]);
  rounds_from<0>(s, m);
  P sum[8];
  store_states(s, sum);
  for (int i = 0; i < 8; ++i) state[i] = state[i] + sum[i];
}

// A chain in the registers' own layout: a digest is held as (D C B A) and (H G F E) from low to
// high, so that a register is a big-endian number of 16 bytes and a byte shift moves the digest in
// the block.
struct Chain {
  State start[4];
  State after4[4];
  __m128i fixed[4][4];  // quads of the block without digest and counter; quads 1..3 in that order
  __m128i first[4];     // digest, upper and lower half
  __m128i second[4];
};

// One step of four lanes. The digest of N words starts at byte Skip of quad 1.
template <int N, int Skip>
[[gnu::noinline]] void chain_step(Chain& c, std::uint32_t count) noexcept {
  State s[4];
  __m128i m[4][4];
  const __m128i counter = _mm_set_epi32(0, static_cast<int>(count), 0, 0);
  unrolled<0, 4>([&]<int L>() __attribute__((always_inline)) {
    const __m128i hi = c.first[L];
    const __m128i lo = c.second[L];
    const __m128i q1 =
        _mm_or_si128(_mm_add_epi32(c.fixed[1][L], counter), _mm_srli_si128(hi, Skip));
    const __m128i q2 = _mm_or_si128(c.fixed[2][L], _mm_alignr_epi8(hi, lo, Skip));
    const __m128i q3 = _mm_or_si128(c.fixed[3][L], _mm_slli_si128(lo, 16 - Skip));
    m[0][L] = c.fixed[0][L];
    m[1][L] = _mm_shuffle_epi32(q1, 0x1b);
    m[2][L] = _mm_shuffle_epi32(q2, 0x1b);
    m[3][L] = _mm_shuffle_epi32(q3, 0x1b);
    s[L] = c.after4[L];
  });
  rounds_from<1>(s, m);
  unrolled<0, 4>([&]<int L>() __attribute__((always_inline)) {
    const __m128i abef = _mm_add_epi32(s[L].abef, c.start[L].abef);
    const __m128i cdgh = _mm_add_epi32(s[L].cdgh, c.start[L].cdgh);
    c.first[L] = _mm_unpackhi_epi64(cdgh, abef);
    if constexpr (N == 8) c.second[L] = _mm_unpacklo_epi64(cdgh, abef);
    if constexpr (N == 6) c.second[L] = _mm_unpacklo_epi64(_mm_setzero_si128(), abef);
  });
}

using ChainStep = void (*)(Chain&, std::uint32_t) noexcept;

COPPICE_INLINE ChainStep step_for(std::size_t n, int shift) {
  if (shift == 24) {
    return n == 32 ? chain_step<8, 7> : n == 24 ? chain_step<6, 7> : chain_step<4, 7>;
  }
  return n == 32 ? chain_step<8, 6> : n == 24 ? chain_step<6, 6> : chain_step<4, 6>;
}

bool ShaNi::fused_chain(const Message<ShaNi>& message, const P* start, std::size_t counter,
                        std::uint32_t bits, const StepRange<ShaNi>& range, std::size_t n,
                        std::uint32_t* digest) noexcept {
  if (message.base != 5 || counter / 4 != 5 || message.shift < 16) return false;
  const ChainStep step = step_for(n, message.shift);
  P w[16] = {};
  for (std::size_t i = 0; i < 6; ++i) w[i] = message.head[i];
  w[5 + n / 4] = w[5 + n / 4] | splat<P>(std::uint32_t{0x80} << (24 - message.shift));
  w[15] = splat<P>(bits);

  Chain c;
  transpose(w[0], w[1], w[2], w[3], c.fixed[0]);
  for (int q = 1; q < 4; ++q) {
    transpose(w[4 * q + 3], w[4 * q + 2], w[4 * q + 1], w[4 * q], c.fixed[q]);
  }
  load_states(start, c.start);
  for (int l = 0; l < 4; ++l) {
    c.after4[l] = c.start[l];
    four_rounds(c.after4[l], _mm_add_epi32(c.fixed[0][l], constants(0)));
  }
  P x[8] = {};
  for (std::size_t i = 0; i < n / 4; ++i) x[i] = load_row<P>(digest, i);
  transpose(x[3], x[2], x[1], x[0], c.first);
  transpose(x[7], x[6], x[5], x[4], c.second);

  const int counter_shift = Message<ShaNi>::byte_shift(counter);
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    if (!range.per_lane) {
      step(c, j << counter_shift);
      continue;
    }
    const Row mask = range.mask(j);
    __m128i first[4], second[4], runs[4];
    transpose(mask, mask, mask, mask, runs);
    for (int l = 0; l < 4; ++l) {
      first[l] = c.first[l];
      second[l] = c.second[l];
    }
    step(c, j << counter_shift);
    for (int l = 0; l < 4; ++l) {
      c.first[l] = _mm_blendv_epi8(first[l], c.first[l], runs[l]);
      c.second[l] = _mm_blendv_epi8(second[l], c.second[l], runs[l]);
    }
  }

  __m128i rows[8];
  transpose((P)c.first[0], (P)c.first[1], (P)c.first[2], (P)c.first[3], rows);
  transpose((P)c.second[0], (P)c.second[1], (P)c.second[2], (P)c.second[3], rows + 4);
  for (std::size_t i = 0; i < n / 4; ++i) store_row(digest, i, (P)rows[i / 4 * 4 + 3 - i % 4]);
  return true;
}

}  // namespace

constinit const HashMany lanes::sha256_sha_ni = {
    "sha-ni", HashId::sha256, 4, 4, true, sha256_digest<ShaNi>, sha256_chain<ShaNi>};

}  // namespace coppice
