// Vectors of hash words on GCC/Clang vector extensions, the arithmetic below every lane kernel.
//
// Included by each kernel unit, and each unit is compiled for another instruction family. Hence
// everything here and in the other .inl files has internal linkage, and no inline function of the
// standard library is called: the linker keeps one copy of such a function for the whole program,
// and that copy could hold instructions that the running CPU lacks.
#pragma once

#include <cstddef>
#include <cstdint>

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
