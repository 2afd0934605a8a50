// SHA-256 chains and one-block digests with the constants of their block used, and long bodies
// without a pass of their own. RFC 8554 section 4.3; FIPS 205 section 11.2.
//
// In a chain step of LMS (I || q || i || j || x) and of SLH-DSA (ADRSc || x) the body starts in
// word 5, at byte 22 or 23. Words 0..4 stay the same over all steps, word 5 holds the counter, the
// words behind x are known: 5 rounds and a tenth of the message schedule need not be repeated.
// Digests of that shape (secrets, PRF, leaf hashes) take the same step: between the chains of a
// leaf, code that has left the first-level instruction cache costs more than the step saves.
#pragma once

#include "core/hash/lanes/sha256_lanes.inl"

namespace coppice {
namespace {

template <class P>
struct Sha256Fixed {
  P start[8];   // chaining value, for the last addition
  P after5[8];  // after rounds 0..4
  P part[4];    // what words 0..4 and 15 give to words 16..19
  P w4, w5;
  std::uint32_t bits;  // word 15
  int counter_shift;
};

// The low 32 bits of (high:low) >> Bits.
template <int Bits, class V>
COPPICE_INLINE V funnel(V high, V low) {
#if defined(__AVX512VBMI2__)
  if constexpr (sizeof(V) == 64) {
    return (V)_mm512_shldi_epi32((__m512i)high, (__m512i)low, 32 - Bits);
  }
#endif
  return (high << (32 - Bits)) | (low >> Bits);
}
template <int Bits, class V>
COPPICE_INLINE Pair<V> funnel(Pair<V> high, Pair<V> low) {
  return {funnel<Bits>(high.a, low.a), funnel<Bits>(high.b, low.b)};
}

// Step j on a body of N words that starts Bits into word 5; N words of `to`, which may be `from`.
// One step a call: with the loop over steps in here, leaving it costs about as much as a step, and
// the compilers copy `f` to the stack.
template <int N, int Bits, class P>
[[gnu::noinline]] void sha256_fused_step(const Sha256Fixed<P>& f, std::uint32_t j,
                                         const std::uint32_t* from, std::uint32_t* to) noexcept {
  constexpr int kTail = 5 + N;  // the word with the last bytes of x and the padding bit
  const std::uint32_t* k = sha256_constants();
  const auto x = [&](int i) __attribute__((always_inline)) {
    return load_row<P>(from, static_cast<std::size_t>(i));
  };
  P w[16];
  w[5] = (f.w5 + splat<P>(j << f.counter_shift)) | (x(0) >> Bits);
  unrolled<6, kTail>([&]<int I>() __attribute__((always_inline)) {
    w[I] = funnel<Bits>(x(I - 6), x(I - 5));
  });
  w[kTail] = (x(N - 1) << (32 - Bits)) | splat<P>(std::uint32_t{0x80} << (24 - Bits));

  Sha256Vars<P> v(f.after5);
  unrolled<5, 16>([&]<int I>() __attribute__((always_inline)) {
    if constexpr (I <= kTail) {
      v.template round<I>(splat<P>(k[I]) + w[I]);
    } else {
      v.template round<I>(splat<P>(I < 15 ? k[I] : k[15] + f.bits));
    }
  });
  // Words 16..31; `zero` are the words between the padding bit and the length.
  unrolled<16, 32>([&]<int I>() __attribute__((always_inline)) {
    constexpr auto zero = [](int t) { return t > kTail && t < 15; };
    P sum = I - 7 == 15 ? splat<P>(f.bits) : zero(I - 7) ? P{} : w[(I - 7) % 16];
    if constexpr (I < 20) {
      sum = sum + f.part[I - 16];
    } else {
      const P old = I - 16 == 4 ? f.w4 : I - 16 == 15 ? splat<P>(f.bits) : w[I - 16];
      if constexpr (I - 15 == 15) {
        sum = sum + small_sigma0(splat<P>(f.bits));
      } else if constexpr (!zero(I - 15)) {
        sum = sum + small_sigma0(w[(I - 15) % 16]);
      }
      if constexpr (!zero(I - 16)) sum = sum + old;
    }
    if constexpr (I - 2 != 15 && !zero(I - 2)) sum = pin(sum) + small_sigma1(w[(I - 2) % 16]);
    w[I % 16] = sum;
    v.template round<I>(splat<P>(k[I]) + sum);
  });
  sha256_rounds_from<32>(v, w);

  P h[8];
  v.store(h);
  unrolled<0, N>([&]<int I>()
                     __attribute__((always_inline)) { store_row(to, I, h[I] + f.start[I]); });
}

template <class P>
using Sha256Step = void (*)(const Sha256Fixed<P>&, std::uint32_t, const std::uint32_t*,
                            std::uint32_t*) noexcept;

// The instance for a body of n bytes behind a head of `length`, or nullptr.
template <class P>
COPPICE_INLINE Sha256Step<P> sha256_fused_for(std::size_t n, std::size_t length) {
  if (length == 23) {
    if (n == 32) return sha256_fused_step<8, 24, P>;
    if (n == 24) return sha256_fused_step<6, 24, P>;
    if (n == 16) return sha256_fused_step<4, 24, P>;
  } else if (length == 22) {
    if (n == 32) return sha256_fused_step<8, 16, P>;
    if (n == 24) return sha256_fused_step<6, 16, P>;
    if (n == 16) return sha256_fused_step<4, 16, P>;
  }
  return nullptr;
}

// What the steps share, from a head of 22 or 23 bytes; the byte at `counter` in word 5 becomes 0
// unless a field covers it.
template <class P>
[[gnu::noinline]] void sha256_fix(Sha256Fixed<P>& f, const MessageHead& head,
                                  std::size_t body_bytes, std::size_t counter) noexcept {
  // Plain pointers to the members: std::array's operator[] must not be instantiated here.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&head.bytes);
  const auto* offsets = reinterpret_cast<const std::uint8_t*>(&head.field_offset);
  const auto* fields = reinterpret_cast<const std::uint32_t* const*>(&head.field);
  // In registers: the core takes a load for dependent on a store before it when their addresses
  // agree in the low 12 bits, and with these rows in memory at the place of the round constants in
  // a page the call took 500 cycles more. Fields ascend, so one look at the next is enough.
  P w[6];
  std::size_t next = 0;
  unrolled<0, 6>([&]<int I>() __attribute__((always_inline)) {
    if (next < head.field_count && offsets[next] == 4 * I) {
      w[I] = load_row<P>(fields[next++], 0);
      return;
    }
    std::uint32_t word;
    __builtin_memcpy(&word, bytes + 4 * I, 4);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    if constexpr (I == 5) {
      word &= head.length == 23 ? 0xffffff00U : 0xffff0000U;
      if (counter < kMaxHead) word &= ~(std::uint32_t{0xff} << (24 - 8 * (counter % 4)));
    }
    w[I] = splat<P>(word);
  });

  sha256_start<P>(head, f.start);
  f.bits = 8 * (head.absorbed + static_cast<std::uint32_t>(head.length + body_bytes));
  f.counter_shift = 24 - 8 * static_cast<int>(counter % 4);
  Sha256Vars<P> v(f.start);
  const std::uint32_t* k = sha256_constants();
  unrolled<0, 5>([&]<int I>() __attribute__((always_inline)) {
    v.template round<I>(splat<P>(k[I]) + w[I]);
  });
  v.store(f.after5);
  for (std::size_t i = 0; i < 4; ++i) f.part[i] = small_sigma0(w[i + 1]) + w[i];
  f.part[1] = f.part[1] + small_sigma1(splat<P>(f.bits));
  f.w4 = w[4];
  f.w5 = w[5];
}

template <class T>
void sha256_fused_chain(const MessageHead& head, const ChainSteps& steps, std::size_t n,
                        void* x) noexcept {
  using P = typename T::P;
  const Sha256Step<P> step = sha256_fused_for<P>(n, head.length);
  if (step == nullptr || steps.counter / 4 != 5) return sha256_chain<T>(head, steps, n, x);
  const StepRange<T> range(steps);
  if (range.first >= range.last) return;
  auto* digest = static_cast<std::uint32_t*>(x);
  alignas(64) Sha256Fixed<P> fixed;
  sha256_fix(fixed, head, n, steps.counter);
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    if (!range.per_lane) {
      step(fixed, j, digest, digest);
      continue;
    }
    alignas(64) P before[8];
    for (std::size_t i = 0; i < n / 4; ++i) before[i] = load_row<P>(digest, i);
    step(fixed, j, digest, digest);
    const P mask = range.mask(j);
    for (std::size_t i = 0; i < n / 4; ++i) {
      store_row(digest, i, select(mask, load_row<P>(digest, i), before[i]));
    }
  }
}

template <class T>
void sha256_fused_digest(const MessageHead& head, const void* body, std::size_t body_bytes,
                         std::size_t n, void* out) noexcept {
  using P = typename T::P;
  const Sha256Step<P> step = sha256_fused_for<P>(body_bytes, head.length);
  if (step == nullptr || n > body_bytes) return sha256_digest<T>(head, body, body_bytes, n, out);
  alignas(64) Sha256Fixed<P> fixed;
  sha256_fix(fixed, head, body_bytes, kMaxHead);
  const auto* from = static_cast<const std::uint32_t*>(body);
  auto* to = static_cast<std::uint32_t*>(out);
  if (n == body_bytes) return step(fixed, 0, from, to);
  alignas(64) P whole[8];
  auto* words = reinterpret_cast<std::uint32_t*>(whole);
  step(fixed, 0, from, words);
  for (std::size_t i = 0; i < n / 4; ++i) store_row(to, i, whole[i]);
}

// Blocks inside a body that starts Bits into its word: block b, word i is made of the words
// 16 b + i - 1 and 16 b + i of `body`.
template <int Bits, class P>
[[gnu::noinline]] void sha256_inner_blocks(P* state, const std::uint32_t* body,
                                           std::size_t blocks) noexcept {
  constexpr std::size_t kLanes = sizeof(P) / 4;
  for (; blocks != 0; --blocks, body += 16 * kLanes) {
    Sha256Vars<P> v(state);
    const std::uint32_t* k = sha256_constants();
    P w[16];
    unrolled<0, 16>([&]<int I>() __attribute__((always_inline)) {
      w[I] = funnel<Bits>(load_row<P>(body - kLanes, I), load_row<P>(body, I));
      v.template round<I>(splat<P>(k[I]) + w[I]);
    });
    sha256_rounds_from<16>(v, w);
    v.add_to(state);
  }
}

// The blocks from `index` on that lie inside the body are hashed; their number. 0: take the
// general way.
template <class T>
COPPICE_INLINE std::size_t sha256_inner(const Message<T>& message, std::size_t index,
                                        typename T::P* state) {
  const std::size_t first = 16 * index;
  if (message.shift != 16 || first <= message.base || first < message.head_words) return 0;
  const std::size_t at = first - message.base;
  if (at >= message.body_words) return 0;
  const std::size_t blocks = (message.body_words - at) / 16;
  constexpr std::size_t kLanes = sizeof(typename T::P) / 4;
  if (blocks != 0) sha256_inner_blocks<16>(state, message.body + at * kLanes, blocks);
  return blocks;
}

}  // namespace
}  // namespace coppice
