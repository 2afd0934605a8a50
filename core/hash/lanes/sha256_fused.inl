// SHA-256 hash chains with the constants of their block used. RFC 8554 section 4.3; FIPS 205
// section 11.2.
//
// In a chain step of LMS (I || q || i || j || x) and of SLH-DSA (ADRSc || x) the body starts in
// word 5, at byte 22 or 23. Words 0..4 stay the same over all steps, word 5 holds the counter, the
// words behind x are known: 5 rounds and a tenth of the message schedule need not be repeated.
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

template <class P>
COPPICE_INLINE void sha256_fix(Sha256Fixed<P>& f, const P* start, const P* head, std::uint32_t bits,
                               int counter_shift) {
  Sha256Vars<P> v(start);
  const std::uint32_t* k = sha256_constants();
  unrolled<0, 5>([&]<int I>() __attribute__((always_inline)) {
    v.template round<I>(splat<P>(k[I]) + head[I]);
  });
  v.store(f.after5);
  for (std::size_t i = 0; i < 8; ++i) f.start[i] = start[i];
  for (std::size_t i = 0; i < 4; ++i) f.part[i] = small_sigma0(head[i + 1]) + head[i];
  f.part[1] = f.part[1] + small_sigma1(splat<P>(bits));
  f.w4 = head[4];
  f.w5 = head[5];
  f.bits = bits;
  f.counter_shift = counter_shift;
}

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

// Step j on a digest of N words that starts Bits into word 5. One step a call: with the loop over
// steps in here, leaving it costs about as much as a step, and the compilers copy `f` to the stack.
template <int N, int Bits, class P>
[[gnu::noinline]] void sha256_fused_step(const Sha256Fixed<P>& f, std::uint32_t j,
                                         std::uint32_t* digest) noexcept {
  constexpr int kTail = 5 + N;  // the word with the last bytes of x and the padding bit
  const std::uint32_t* k = sha256_constants();
  const auto x = [&](int i) __attribute__((always_inline)) {
    return load_row<P>(digest, static_cast<std::size_t>(i));
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
                     __attribute__((always_inline)) { store_row(digest, I, h[I] + f.start[I]); });
}

template <class P>
using Sha256Step = void (*)(const Sha256Fixed<P>&, std::uint32_t, std::uint32_t*) noexcept;

// The instance for a digest of n bytes that starts `shift` bits into its word, or nullptr.
template <class P>
COPPICE_INLINE Sha256Step<P> sha256_fused_for(std::size_t n, int shift) {
  if (shift == 24) {
    if (n == 32) return sha256_fused_step<8, 24, P>;
    if (n == 24) return sha256_fused_step<6, 24, P>;
    if (n == 16) return sha256_fused_step<4, 24, P>;
  } else if (shift == 16) {
    if (n == 32) return sha256_fused_step<8, 16, P>;
    if (n == 24) return sha256_fused_step<6, 16, P>;
    if (n == 16) return sha256_fused_step<4, 16, P>;
  }
  return nullptr;
}

template <class T>
bool sha256_fused_chain(const Message<T>& message, const typename T::P* start, std::size_t counter,
                        std::uint32_t bits, const StepRange<T>& range, std::size_t n,
                        std::uint32_t* digest) noexcept {
  using P = typename T::P;
  if (message.base != 5 || counter / 4 != 5) return false;
  const Sha256Step<P> step = sha256_fused_for<P>(n, message.shift);
  if (step == nullptr) return false;
  alignas(64) Sha256Fixed<P> fixed;
  sha256_fix(fixed, start, message.head, bits, Message<T>::byte_shift(counter));
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    if (!range.per_lane) {
      step(fixed, j, digest);
      continue;
    }
    alignas(64) P before[8];
    for (std::size_t i = 0; i < n / 4; ++i) before[i] = load_row<P>(digest, i);
    step(fixed, j, digest);
    const P mask = range.mask(j);
    for (std::size_t i = 0; i < n / 4; ++i) {
      store_row(digest, i, select(mask, load_row<P>(digest, i), before[i]));
    }
  }
  return true;
}

}  // namespace
}  // namespace coppice
