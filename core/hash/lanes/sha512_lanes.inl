// SHA-512 in lanes, one source for all vector widths. FIPS 180-4 section 6.4.2.
//
// A target T gives Word, P, kBigEndian, kBlockWords and wide_field (lane_message.inl).
#pragma once

#include "core/hash/lanes/lane_message.inl"
#include "core/hash/lanes/pin.inl"
#include "core/hash/sha512.hpp"

namespace coppice {
namespace {

// The tables of sha512.hpp as plain arrays (see lane_vector.inl on std::array).
COPPICE_INLINE const std::uint64_t* sha512_constants() {
  return reinterpret_cast<const std::uint64_t*>(&kSha512RoundConstants);
}
COPPICE_INLINE const std::uint64_t* sha512_initial() {
  return reinterpret_cast<const std::uint64_t*>(&kSha512Initial);
}

template <int N, class P>
COPPICE_INLINE P rotr64(P x) {
  return (x >> N) | (x << (64 - N));
}

// One round with kw = K + W; the caller renames the variables instead of moving them.
template <class V>
COPPICE_INLINE void sha512_round(V a, V b, V c, V& d, V e, V f, V g, V& h, V kw) {
  const V sum1 = xor3(rotr64<14>(e), rotr64<18>(e), rotr64<41>(e));
  const V t1 = pin(pin(h + kw) + choose(e, f, g)) + sum1;
  d = d + t1;
  const V sum0 = xor3(rotr64<28>(a), rotr64<34>(a), rotr64<39>(a));
  h = pin(t1) + pin(sum0 + majority(a, b, c));
}
// Stream by stream, as in SHA-256.
template <class V>
COPPICE_INLINE void sha512_round(const Pair<V>& a, const Pair<V>& b, const Pair<V>& c, Pair<V>& d,
                                 const Pair<V>& e, const Pair<V>& f, const Pair<V>& g, Pair<V>& h,
                                 const Pair<V>& kw) {
  sha512_round(a.a, b.a, c.a, d.a, e.a, f.a, g.a, h.a, kw.a);
  sha512_round(a.b, b.b, c.b, d.b, e.b, f.b, g.b, h.b, kw.b);
}

// The next message word from those 2, 7, 15 and 16 places before it.
template <class V>
COPPICE_INLINE V sha512_word(V w2, V w7, V w15, V w16) {
  const V sigma1 = xor3(rotr64<19>(w2), rotr64<61>(w2), w2 >> 6);
  const V sigma0 = xor3(rotr64<1>(w15), rotr64<8>(w15), w15 >> 7);
  return pin(sigma1 + w7) + pin(sigma0 + w16);
}
template <class V>
COPPICE_INLINE Pair<V> sha512_word(const Pair<V>& w2, const Pair<V>& w7, const Pair<V>& w15,
                                   const Pair<V>& w16) {
  return {sha512_word(w2.a, w7.a, w15.a, w16.a), sha512_word(w2.b, w7.b, w15.b, w16.b)};
}

// Round T (mod 8 decides the names) on the eight working variables in s.
template <int T, class P>
COPPICE_INLINE void sha512_round_at(P* s, P kw) {
  constexpr int r = 8 - T % 8;
  sha512_round(s[r % 8], s[(r + 1) % 8], s[(r + 2) % 8], s[(r + 3) % 8], s[(r + 4) % 8],
               s[(r + 5) % 8], s[(r + 6) % 8], s[(r + 7) % 8], kw);
}

// Rounds 16..79 as a loop of 16: unrolled they would not fit the first-level instruction cache.
template <class P>
[[gnu::noinline]] void sha512_compress_lanes(P* state, P* w) noexcept {
  P s[8];
  unrolled<0, 8>([&]<int I>() __attribute__((always_inline)) { s[I] = state[I]; });
  const std::uint64_t* k = sha512_constants();
  unrolled<0, 16>([&]<int I>() __attribute__((always_inline)) {
    sha512_round_at<I>(s, splat<P>(k[I]) + w[I]);
  });
  for (k += 16; k != sha512_constants() + 80; k += 16) {
    unrolled<0, 16>([&]<int I>() __attribute__((always_inline)) {
      w[I] = sha512_word(w[(I + 14) % 16], w[(I + 9) % 16], w[(I + 1) % 16], w[I]);
      sha512_round_at<I>(s, splat<P>(k[I]) + w[I]);
    });
  }
  unrolled<0, 8>([&]<int I>() __attribute__((always_inline)) { state[I] = state[I] + s[I]; });
}

// The chaining value that the head starts from.
template <class P>
COPPICE_INLINE void sha512_start(const MessageHead& head, P* state) {
  const auto* words = static_cast<const std::uint64_t*>(head.midstate);
  if (words == nullptr) words = sha512_initial();
  for (std::size_t i = 0; i < 8; ++i) {
    state[i] = head.midstate != nullptr && head.midstate_in_lanes ? load_row<P>(words, i)
                                                                  : splat<P>(words[i]);
  }
}

template <class T>
COPPICE_INLINE void sha512_pad(std::size_t end, typename T::P* w) {
  using P = typename T::P;
  P& last = w[end / 8 % 16];
  last = last | splat<P>(std::uint64_t{0x80} << Message<T>::byte_shift(end));
}

template <class T>
void sha512_digest(const MessageHead& head, const void* body, std::size_t body_bytes, std::size_t n,
                   void* out) noexcept {
  using P = typename T::P;
  const Message<T> message(head, body, body_bytes);
  alignas(64) P state[8];
  alignas(64) P w[16];
  sha512_start<P>(head, state);
  const std::size_t blocks = (message.end + 17 + kSha512Block - 1) / kSha512Block;
  for (std::size_t b = 0; b < blocks; ++b) {
    message.block(b, w);
    if (message.end / kSha512Block == b) sha512_pad<T>(message.end, w);
    if (b == blocks - 1) {  // word 14 stays 0: lengths below 2^64 bits
      w[15] = splat<P>(8 * (std::uint64_t{head.absorbed} + message.end));
    }
    sha512_compress_lanes(state, w);
  }
  auto* digest = static_cast<std::uint64_t*>(out);
  for (std::size_t i = 0; i < n / 8; ++i) store_row(digest, i, state[i]);
}

template <class T>
void sha512_chain(const MessageHead& head, const ChainSteps& steps, std::size_t n,
                  void* x) noexcept {
  using P = typename T::P;
  const StepRange<T> range(steps);
  if (range.first >= range.last) return;
  auto* digest = static_cast<std::uint64_t*>(x);
  const Message<T> message(head, x, n, steps.counter);
  alignas(64) P start[8];
  sha512_start<P>(head, start);
  const std::uint64_t bits = 8 * (std::uint64_t{head.absorbed} + message.end);
  const int counter_shift = Message<T>::byte_shift(steps.counter);
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    alignas(64) P state[8];
    alignas(64) P w[16];
    for (std::size_t i = 0; i < 8; ++i) state[i] = start[i];
    message.block(0, w);
    P& count = w[steps.counter / 8];
    count = count + splat<P>(std::uint64_t{j} << counter_shift);
    sha512_pad<T>(message.end, w);
    w[15] = splat<P>(bits);
    sha512_compress_lanes(state, w);
    for (std::size_t i = 0; i < n / 8; ++i) {
      if (range.per_lane) state[i] = select(range.mask(j), state[i], load_row<P>(digest, i));
      store_row(digest, i, state[i]);
    }
  }
}

}  // namespace
}  // namespace coppice
