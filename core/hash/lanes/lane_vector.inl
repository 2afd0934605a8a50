// Vectors of hash words on GCC/Clang vector extensions, the arithmetic below every lane kernel.
//
// Included by each kernel unit, and each unit is compiled for another instruction family. Hence
// everything here and in the other .inl files has internal linkage, and no inline function of the
// standard library is called: the linker keeps one copy of such a function for the whole program,
// and that copy could hold instructions that the running CPU lacks.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "core/hash/hash_many.hpp"

#define COPPICE_INLINE [[gnu::always_inline]] inline

namespace coppice {
namespace {

// Two vectors side by side: two independent dependency chains hide the latency of each other.
template <class V>
struct Pair {
  V a, b;
};

template <class V>
COPPICE_INLINE Pair<V> operator+(Pair<V> x, Pair<V> y) {
  return {x.a + y.a, x.b + y.b};
}
template <class V>
COPPICE_INLINE Pair<V> operator^(Pair<V> x, Pair<V> y) {
  return {x.a ^ y.a, x.b ^ y.b};
}
template <class V>
COPPICE_INLINE Pair<V> operator&(Pair<V> x, Pair<V> y) {
  return {x.a & y.a, x.b & y.b};
}
template <class V>
COPPICE_INLINE Pair<V> operator|(Pair<V> x, Pair<V> y) {
  return {x.a | y.a, x.b | y.b};
}
template <class V>
COPPICE_INLINE Pair<V> operator<<(Pair<V> x, int n) {
  return {x.a << n, x.b << n};
}
template <class V>
COPPICE_INLINE Pair<V> operator>>(Pair<V> x, int n) {
  return {x.a >> n, x.b >> n};
}

template <class P>
struct Splat {
  template <class Word>
  COPPICE_INLINE static P of(Word x) {
    return P{} + x;
  }
};
template <class V>
struct Splat<Pair<V>> {
  template <class Word>
  COPPICE_INLINE static Pair<V> of(Word x) {
    const V v = V{} + x;
    return {v, v};
  }
};

// Bitwise functions of three words. AVX-512 has one instruction for each; the compilers find it for
// some forms only, so it is named here.
#if defined(__AVX512F__)
#define COPPICE_TERNARY(x, y, z, table) \
  (V) _mm512_ternarylogic_epi64((__m512i)(x), (__m512i)(y), (__m512i)(z), table)
#endif
template <class V>
COPPICE_INLINE V xor3(V x, V y, V z) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return COPPICE_TERNARY(x, y, z, 0x96);
#endif
  return x ^ y ^ z;
}
template <class V>
COPPICE_INLINE V choose(V x, V y, V z) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return COPPICE_TERNARY(x, y, z, 0xca);
#endif
  return z ^ (x & (y ^ z));
}
template <class V>
COPPICE_INLINE V majority(V x, V y, V z) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return COPPICE_TERNARY(x, y, z, 0xe8);
#endif
  return (x & y) | (z & (x | y));
}
template <class V>
COPPICE_INLINE V chi(V x, V y, V z) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return COPPICE_TERNARY(x, y, z, 0xd2);
#endif
  return x ^ (~y & z);
}
template <class V>
COPPICE_INLINE Pair<V> xor3(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {xor3(x.a, y.a, z.a), xor3(x.b, y.b, z.b)};
}
template <class V>
COPPICE_INLINE Pair<V> choose(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {choose(x.a, y.a, z.a), choose(x.b, y.b, z.b)};
}
template <class V>
COPPICE_INLINE Pair<V> majority(Pair<V> x, Pair<V> y, Pair<V> z) {
  return {majority(x.a, y.a, z.a), majority(x.b, y.b, z.b)};
}

// Calls f.operator()<From>() .. f.operator()<To - 1>(): unrolled by construction, not by a hint.
template <int From, int To, class F>
COPPICE_INLINE void unrolled(const F& f) {
  if constexpr (From < To) {
    f.template operator()<From>();
    unrolled<From + 1, To>(f);
  }
}

// The same word in all lanes.
template <class P, class Word>
COPPICE_INLINE P splat(Word x) {
  return Splat<P>::of(x);
}

// Row k of an SoA buffer, which is 64-byte aligned; memcpy because its declared type is unknown.
template <class P, class Word>
COPPICE_INLINE P load_row(const Word* soa, std::size_t k) {
  P x;
  __builtin_memcpy(&x, __builtin_assume_aligned(soa + k * (sizeof(P) / sizeof(Word)), 16),
                   sizeof x);
  return x;
}
template <class P, class Word>
COPPICE_INLINE void store_row(Word* soa, std::size_t k, P x) {
  __builtin_memcpy(__builtin_assume_aligned(soa + k * (sizeof(P) / sizeof(Word)), 16), &x,
                   sizeof x);
}

// All ones in the lanes where lo <= j < hi.
template <class V>
COPPICE_INLINE V lanes_between(V lo, V j, V hi) {
  return (V)((lo <= j) & (j < hi));
}
template <class V>
COPPICE_INLINE Pair<V> lanes_between(Pair<V> lo, Pair<V> j, Pair<V> hi) {
  return {lanes_between(lo.a, j.a, hi.a), lanes_between(lo.b, j.b, hi.b)};
}

template <class P>
COPPICE_INLINE P select(P mask, P yes, P no) {
  return no ^ ((yes ^ no) & mask);
}

}  // namespace
}  // namespace coppice
