// SHAKE256 in lanes, one source for all vector widths. FIPS 202 sections 3 and 6.2.
//
// A target T gives Word, P, kBigEndian, kBlockWords and wide_field (lane_message.inl), and
//   static void permute(P* state)   Keccak-f[1600] on 25 rows, index x + 5y
#pragma once

#include "core/hash/keccak.hpp"
#include "core/hash/lanes/lane_message.inl"

namespace coppice {
namespace {

COPPICE_INLINE const std::uint64_t* keccak_constants() {
  return reinterpret_cast<const std::uint64_t*>(&kKeccakRoundConstants);
}

template <int N, class P>
COPPICE_INLINE P rotl64(P x) {
  if constexpr (N == 0) return x;
  return (x << N) | (x >> ((64 - N) % 64));
}

// One round from `a` to `e`, row by row of the result: each row takes five words of `a` that no
// other row needs, so the state turns over in place and 25 words, 5 sums and 2 temporaries are
// live.
template <class P>
COPPICE_INLINE void keccak_round(const P* a, P* e, std::uint64_t constant) {
  const auto column = [&](int x) __attribute__((always_inline)) {
    return xor3(xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
  };
  const P c0 = column(0), c1 = column(1), c2 = column(2), c3 = column(3), c4 = column(4);
  const P d0 = c4 ^ rotl64<1>(c1);
  const P d2 = c1 ^ rotl64<1>(c3);
  const P d4 = c3 ^ rotl64<1>(c0);
  const P d1 = c0 ^ rotl64<1>(c2);
  const P d3 = c2 ^ rotl64<1>(c4);
  const auto row = [&](int y, P b0, P b1, P b2, P b3, P b4) __attribute__((always_inline)) {
    e[5 * y] = chi(b0, b1, b2);
    e[5 * y + 1] = chi(b1, b2, b3);
    e[5 * y + 2] = chi(b2, b3, b4);
    e[5 * y + 3] = chi(b3, b4, b0);
    e[5 * y + 4] = chi(b4, b0, b1);
  };
  row(0, a[0] ^ d0, rotl64<44>(a[6] ^ d1), rotl64<43>(a[12] ^ d2), rotl64<21>(a[18] ^ d3),
      rotl64<14>(a[24] ^ d4));
  e[0] = e[0] ^ splat<P>(constant);
  row(1, rotl64<28>(a[3] ^ d3), rotl64<20>(a[9] ^ d4), rotl64<3>(a[10] ^ d0),
      rotl64<45>(a[16] ^ d1), rotl64<61>(a[22] ^ d2));
  row(2, rotl64<1>(a[1] ^ d1), rotl64<6>(a[7] ^ d2), rotl64<25>(a[13] ^ d3), rotl64<8>(a[19] ^ d4),
      rotl64<18>(a[20] ^ d0));
  row(3, rotl64<27>(a[4] ^ d4), rotl64<36>(a[5] ^ d0), rotl64<10>(a[11] ^ d1),
      rotl64<15>(a[17] ^ d2), rotl64<56>(a[23] ^ d3));
  row(4, rotl64<62>(a[2] ^ d2), rotl64<55>(a[8] ^ d3), rotl64<39>(a[14] ^ d4),
      rotl64<41>(a[15] ^ d0), rotl64<2>(a[21] ^ d1));
}

template <class P>
[[gnu::noinline]] void keccak_permute_lanes(P* state) noexcept {
  const std::uint64_t* k = keccak_constants();
  P a[25];
  unrolled<0, 25>([&]<int I>() __attribute__((always_inline)) { a[I] = state[I]; });
  for (std::size_t r = 0; r < 24; r += 2) {
    P e[25];
    keccak_round(a, e, k[r]);
    keccak_round(e, a, k[r + 1]);
  }
  unrolled<0, 25>([&]<int I>() __attribute__((always_inline)) { state[I] = a[I]; });
}

template <class T>
COPPICE_INLINE void shake256_start(const MessageHead& head, typename T::P* state) {
  using P = typename T::P;
  const auto* words = static_cast<const std::uint64_t*>(head.midstate);
  for (std::size_t i = 0; i < 25; ++i) {
    if (words == nullptr) {
      state[i] = P{};
    } else {
      state[i] = head.midstate_in_lanes ? load_row<P>(words, i) : splat<P>(words[i]);
    }
  }
}

// Suffix 1111 and the first bit of pad10*1 at message byte `end`; the last bit closes the block.
template <class T>
COPPICE_INLINE void shake256_pad(std::size_t end, typename T::P* w) {
  using P = typename T::P;
  P& suffix = w[end / 8 % T::kBlockWords];
  suffix = suffix ^ splat<P>(std::uint64_t{0x1f} << (8 * (end % 8)));
  P& last = w[T::kBlockWords - 1];
  last = last ^ splat<P>(std::uint64_t{0x80} << 56);
}

template <class T>
void shake256_digest(const MessageHead& head, const void* body, std::size_t body_bytes,
                     std::size_t n, void* out) noexcept {
  using P = typename T::P;
  const Message<T> message(head, body, body_bytes);
  alignas(64) P state[25];
  alignas(64) P w[T::kBlockWords];
  shake256_start<T>(head, state);
  const std::size_t blocks = message.end / kShake256Rate + 1;
  for (std::size_t b = 0; b < blocks; ++b) {
    message.block(b, w);
    if (b == blocks - 1) shake256_pad<T>(message.end, w);
    for (std::size_t i = 0; i < T::kBlockWords; ++i) state[i] = state[i] ^ w[i];
    T::permute(state);
  }
  auto* digest = static_cast<std::uint64_t*>(out);
  for (std::size_t i = 0; i < n / 8; ++i) store_row(digest, i, state[i]);
}

template <class T>
void shake256_chain(const MessageHead& head, const ChainSteps& steps, std::size_t n,
                    void* x) noexcept {
  using P = typename T::P;
  const StepRange<T> range(steps);
  if (range.first >= range.last) return;
  auto* digest = static_cast<std::uint64_t*>(x);
  const Message<T> message(head, x, n, steps.counter);

  // All that the steps have in common: start value, head and padding.
  alignas(64) P start[25];
  shake256_start<T>(head, start);
  for (std::size_t i = 0; i < message.head_words; ++i) start[i] = start[i] ^ message.head[i];
  shake256_pad<T>(message.end, start);

  const std::size_t touched = message.end / 8 + 1;
  const std::size_t counter_word = steps.counter / 8u;
  const int counter_shift = Message<T>::byte_shift(steps.counter);
  for (std::uint32_t j = range.first; j < range.last; ++j) {
    alignas(64) P state[25];
    for (std::size_t i = 0; i < 25; ++i) state[i] = start[i];
    state[counter_word] = state[counter_word] ^ splat<P>(std::uint64_t{j} << counter_shift);
    for (std::size_t i = message.base; i < touched; ++i) state[i] = state[i] ^ message.body_part(i);
    T::permute(state);
    for (std::size_t i = 0; i < n / 8; ++i) {
      if (range.per_lane) state[i] = select(range.mask(j), state[i], load_row<P>(digest, i));
      store_row(digest, i, state[i]);
    }
  }
}

}  // namespace
}  // namespace coppice
