// SHA-256 in lanes, one source for all vector widths. FIPS 180-4 section 6.2.2.
//
// A target T gives Word, P, kBigEndian, kBlockWords (lane_message.inl) and
//   static void compress(P* state, P* w)   one compression; w is overwritten
//   static bool fused_chain(...)           chain with the constants of its block used, or false
//   static std::size_t inner(message, b, state)   hashes blocks b.. inside the body; their number
#pragma once

#include "core/hash/lanes/lane_message.inl"
#include "core/hash/lanes/pin.inl"
#include "core/hash/sha256.hpp"

namespace coppice {
namespace {

// The tables of sha256.hpp as plain arrays (see lane_vector.inl on std::array).
COPPICE_INLINE const std::uint32_t* sha256_constants() {
  return reinterpret_cast<const std::uint32_t*>(&kSha256RoundConstants);
}
COPPICE_INLINE const std::uint32_t* sha256_initial() {
  return reinterpret_cast<const std::uint32_t*>(&kSha256Initial);
}

template <int N, class P>
COPPICE_INLINE P rotr(P x) {
  return (x >> N) | (x << (32 - N));
}
template <class P>
COPPICE_INLINE P small_sigma0(P x) {
  return xor3(rotr<7>(x), rotr<18>(x), x >> 3);
}
template <class P>
COPPICE_INLINE P small_sigma1(P x) {
  return xor3(rotr<17>(x), rotr<19>(x), x >> 10);
}

// One round with kw = K + W; the caller renames the variables instead of moving them.
template <class V>
COPPICE_INLINE void sha256_round(V a, V b, V c, V& d, V e, V f, V g, V& h, V kw) {
  const V sum1 = xor3(rotr<6>(e), rotr<11>(e), rotr<25>(e));
  const V ch = choose(e, f, g);
  const V t1 = pin(pin(h + kw) + ch) + sum1;
  d = d + t1;
  const V sum0 = xor3(rotr<2>(a), rotr<13>(a), rotr<22>(a));
  const V maj = majority(a, b, c);
  h = pin(t1) + pin(sum0 + maj);
}
// Stream by stream: fewer values live at once, and the core looks far enough ahead to overlap them.
template <class V>
COPPICE_INLINE void sha256_round(const Pair<V>& a, const Pair<V>& b, const Pair<V>& c, Pair<V>& d,
                                 const Pair<V>& e, const Pair<V>& f, const Pair<V>& g, Pair<V>& h,
                                 const Pair<V>& kw) {
  sha256_round(a.a, b.a, c.a, d.a, e.a, f.a, g.a, h.a, kw.a);
  sha256_round(a.b, b.b, c.b, d.b, e.b, f.b, g.b, h.b, kw.b);
}

// The next message word from those 2, 7, 15 and 16 places before it.
template <class V>
COPPICE_INLINE V sha256_word(V w2, V w7, V w15, V w16) {
  return pin(small_sigma1(w2) + w7) + pin(small_sigma0(w15) + w16);
}
template <class V>
COPPICE_INLINE Pair<V> sha256_word(const Pair<V>& w2, const Pair<V>& w7, const Pair<V>& w15,
                                   const Pair<V>& w16) {
  return {sha256_word(w2.a, w7.a, w15.a, w16.a), sha256_word(w2.b, w7.b, w15.b, w16.b)};
}

template <class P>
struct Sha256Vars {
  P a, b, c, d, e, f, g, h;

  COPPICE_INLINE explicit Sha256Vars(const P* s)
      : a(s[0]), b(s[1]), c(s[2]), d(s[3]), e(s[4]), f(s[5]), g(s[6]), h(s[7]) {}

  // Round T (mod 8 decides the names).
  template <int T>
  COPPICE_INLINE void round(P kw) {
    if constexpr (T % 8 == 0) sha256_round(a, b, c, d, e, f, g, h, kw);
    if constexpr (T % 8 == 1) sha256_round(h, a, b, c, d, e, f, g, kw);
    if constexpr (T % 8 == 2) sha256_round(g, h, a, b, c, d, e, f, kw);
    if constexpr (T % 8 == 3) sha256_round(f, g, h, a, b, c, d, e, kw);
    if constexpr (T % 8 == 4) sha256_round(e, f, g, h, a, b, c, d, kw);
    if constexpr (T % 8 == 5) sha256_round(d, e, f, g, h, a, b, c, kw);
    if constexpr (T % 8 == 6) sha256_round(c, d, e, f, g, h, a, b, kw);
    if constexpr (T % 8 == 7) sha256_round(b, c, d, e, f, g, h, a, kw);
  }

  COPPICE_INLINE void store(P* s) const {
    s[0] = a;
    s[1] = b;
    s[2] = c;
    s[3] = d;
    s[4] = e;
    s[5] = f;
    s[6] = g;
    s[7] = h;
  }

  COPPICE_INLINE void add_to(P* s) const {
    s[0] = s[0] + a;
    s[1] = s[1] + b;
    s[2] = s[2] + c;
    s[3] = s[3] + d;
    s[4] = s[4] + e;
    s[5] = s[5] + f;
    s[6] = s[6] + g;
    s[7] = s[7] + h;
  }
};

// Rounds 16..63 as a loop of 16 rounds: 64 unrolled rounds of two streams would not fit the
// first-level instruction cache.
template <int From, class P>
COPPICE_INLINE void sha256_rounds_from(Sha256Vars<P>& v, P* w) {
  for (const std::uint32_t* k = sha256_constants() + From; k != sha256_constants() + 64; k += 16) {
    unrolled<0, 16>([&]<int I>() __attribute__((always_inline)) {
      w[I] = sha256_word(w[(I + 14) % 16], w[(I + 9) % 16], w[(I + 1) % 16], w[I]);
      v.template round<I>(splat<P>(k[I]) + w[I]);
    });
  }
}

template <class P>
[[gnu::noinline]] void sha256_compress_lanes(P* state, P* w) noexcept {
  Sha256Vars<P> v(state);
  const std::uint32_t* k = sha256_constants();
  unrolled<0, 16>([&]<int I>() __attribute__((always_inline)) {
    v.template round<I>(splat<P>(k[I]) + w[I]);
  });
  sha256_rounds_from<16>(v, w);
  v.add_to(state);
}

// The chaining value that the head starts from.
template <class P>
COPPICE_INLINE void sha256_start(const MessageHead& head, P* state) {
  const auto* words = static_cast<const std::uint32_t*>(head.midstate);
  if (words == nullptr) words = sha256_initial();
  for (std::size_t i = 0; i < 8; ++i) {
    state[i] = head.midstate != nullptr && head.midstate_in_lanes ? load_row<P>(words, i)
                                                                  : splat<P>(words[i]);
  }
}

template <class T>
void sha256_digest(const MessageHead& head, const void* body, std::size_t body_bytes, std::size_t n,
                   void* out) noexcept {
  using P = typename T::P;
  const Message<T> message(head, body, body_bytes);
  alignas(64) P state[8];
  alignas(64) P w[16];
  sha256_start<P>(head, state);
  const std::size_t blocks = (message.end + 9 + kSha256Block - 1) / kSha256Block;
  const std::uint64_t bits = 8 * (std::uint64_t{head.absorbed} + message.end);
  for (std::size_t b = 0; b < blocks; ++b) {
    b += T::inner(message, b, state);
    message.block(b, w);
    if (message.end / kSha256Block == b) {
      P& last = w[message.end / 4 % 16];
      last = last | splat<P>(std::uint32_t{0x80} << Message<T>::byte_shift(message.end));
    }
    if (b == blocks - 1) {
      w[14] = splat<P>(static_cast<std::uint32_t>(bits >> 32));
      w[15] = splat<P>(static_cast<std::uint32_t>(bits));
    }
    T::compress(state, w);
  }
  auto* digest = static_cast<std::uint32_t*>(out);
  for (std::size_t i = 0; i < n / 4; ++i) store_row(digest, i, state[i]);
}

template <class T>
void sha256_chain(const MessageHead& head, const ChainSteps& steps, std::size_t n,
                  void* x) noexcept {
  using P = typename T::P;
  const StepRange<T> range(steps);
  if (range.first >= range.last) return;
  auto* digest = static_cast<std::uint32_t*>(x);
  const Message<T> message(head, x, n, steps.counter);
  alignas(64) P start[8];
  sha256_start<P>(head, start);
  const auto bits = 8 * (head.absorbed + static_cast<std::uint32_t>(message.end));
  if (T::fused_chain(message, start, steps.counter, bits, range, n, digest)) return;

  const int counter_shift = Message<T>::byte_shift(steps.counter);
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    alignas(64) P state[8];
    alignas(64) P w[16];
    for (std::size_t i = 0; i < 8; ++i) state[i] = start[i];
    message.block(0, w);
    P& count = w[steps.counter / 4];
    count = count + splat<P>(j << counter_shift);
    P& last = w[message.end / 4];
    last = last | splat<P>(std::uint32_t{0x80} << Message<T>::byte_shift(message.end));
    w[15] = splat<P>(bits);
    T::compress(state, w);
    for (std::size_t i = 0; i < n / 4; ++i) {
      if (range.per_lane) state[i] = select(range.mask(j), state[i], load_row<P>(digest, i));
      store_row(digest, i, state[i]);
    }
  }
}

}  // namespace
}  // namespace coppice
