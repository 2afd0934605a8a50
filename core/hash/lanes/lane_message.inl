// Message words of a batch from the head template and a body in lanes. Contract: hash_many.hpp.
#pragma once

#include "core/hash/lanes/lane_vector.inl"

namespace coppice {
namespace {

// The values of a field as they stand in 8-byte words: swapped for a little-endian hash.
template <class P, std::size_t Lanes, bool Swap>
COPPICE_INLINE P widen_field(const std::uint32_t* field) {
  alignas(64) std::uint64_t wide[Lanes];
  for (std::size_t l = 0; l < Lanes; ++l) wide[l] = Swap ? __builtin_bswap32(field[l]) : field[l];
  return load_row<P>(wide, 0);
}

// A target T gives Word (the hash's word), P (a vector of it, or a Pair), kBigEndian,
// kBlockWords and, with 8-byte words, wide_field (of one field, in all lanes).
template <class T>
struct Message {
  using Word = typename T::Word;
  using P = typename T::P;
  static constexpr std::size_t kWordBytes = sizeof(Word);
  static constexpr int kWordBits = 8 * static_cast<int>(kWordBytes);
  static constexpr std::size_t kNoCounter = kMaxHead;

  P head[kMaxHead / kWordBytes];  // bytes from `length` on are zero
  std::size_t head_words;
  std::size_t base;  // the word in which the body starts
  int shift;         // bits of that word before the body
  const Word* body;
  std::size_t body_words;
  std::size_t end;  // bytes of head and body

  // `counter`: the head byte that chain steps add; it is zero here unless a field covers it.
  COPPICE_INLINE Message(const MessageHead& from, const void* body_soa, std::size_t body_bytes,
                         std::size_t counter = kNoCounter)
      : head_words((from.length + kWordBytes - 1) / kWordBytes),
        base(from.length / kWordBytes),
        shift(8 * static_cast<int>(from.length % kWordBytes)),
        body(static_cast<const Word*>(body_soa)),
        body_words(body_bytes / kWordBytes),
        end(from.length + body_bytes) {
    // Plain pointers to the members: std::array's operator[] must not be instantiated here.
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&from.bytes);
    const auto* offsets = reinterpret_cast<const std::uint8_t*>(&from.field_offset);
    const auto* fields = reinterpret_cast<const std::uint32_t* const*>(&from.field);
    for (std::size_t k = 0; k < head_words; ++k) {
      Word w;
      __builtin_memcpy(&w, bytes + k * kWordBytes, kWordBytes);
      w = in_order(w);
      if (k == base)
        w &= T::kBigEndian ? static_cast<Word>(~(~Word{0} >> shift))
                           : static_cast<Word>(~(~Word{0} << shift));
      if (k == counter / kWordBytes) w &= ~(Word{0xff} << byte_shift(counter));
      if constexpr (kWordBytes == 8) {
        for (std::size_t f = 0; f < from.field_count; ++f) {
          if (offsets[f] / 8 == k) w &= ~(Word{0xffffffff} << field_shift(offsets[f]));
        }
      }
      head[k] = splat<P>(w);
    }
    for (std::size_t f = 0; f < from.field_count; ++f) {
      P& word = head[offsets[f] / kWordBytes];
      if constexpr (kWordBytes == 4) {
        __builtin_memcpy(&word, fields[f], sizeof word);
      } else {
        word = word | (T::wide_field(fields[f]) << field_shift(offsets[f]));
      }
    }
  }

  // Place of message byte `at` in its word, as a left shift.
  COPPICE_INLINE static int byte_shift(std::size_t at) {
    const int in_word = 8 * static_cast<int>(at % kWordBytes);
    return T::kBigEndian ? kWordBits - 8 - in_word : in_word;
  }

  // Place of the 4-byte field at `at` in its 8-byte word, as a left shift.
  COPPICE_INLINE static int field_shift(std::size_t at) {
    const int in_word = 8 * static_cast<int>(at % 8);
    return T::kBigEndian ? 32 - in_word : in_word;
  }

  // Word k of the message, without padding. Any k.
  COPPICE_INLINE P word(std::size_t k) const {
    const P w = k < head_words ? head[k] : P{};
    return k < base ? w : w | body_part(k);
  }

  // What the body puts into word k >= base.
  COPPICE_INLINE P body_part(std::size_t k) const {
    P w{};
    const std::size_t m = k - base;
    if (m < body_words) w = w | later(load_row<P>(body, m));
    if (shift != 0 && m >= 1 && m - 1 < body_words) w = w | earlier(load_row<P>(body, m - 1));
    return w;
  }

  // Words of one block. Blocks inside the body, the bulk of a long message, have a loop of their
  // own.
  COPPICE_INLINE void block(std::size_t index, P* w) const {
    const std::size_t first = index * T::kBlockWords;
    const std::size_t m = first - base;
    if (first > base && first >= head_words && m + T::kBlockWords <= body_words) {
      if (shift == 0) {
        for (std::size_t i = 0; i < T::kBlockWords; ++i) w[i] = load_row<P>(body, m + i);
        return;
      }
      P before = load_row<P>(body, m - 1);
      for (std::size_t i = 0; i < T::kBlockWords; ++i) {
        const P now = load_row<P>(body, m + i);
        w[i] = later(now) | earlier(before);
        before = now;
      }
      return;
    }
    for (std::size_t i = 0; i < T::kBlockWords; ++i) w[i] = word(first + i);
  }

 private:
  COPPICE_INLINE static Word in_order(Word w) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    constexpr bool swap = T::kBigEndian;
#else
    constexpr bool swap = !T::kBigEndian;
#endif
    if constexpr (!swap) return w;
    if constexpr (kWordBytes == 4) return static_cast<Word>(__builtin_bswap32(w));
    return static_cast<Word>(__builtin_bswap64(w));
  }
  COPPICE_INLINE P later(P x) const { return T::kBigEndian ? x >> shift : x << shift; }
  COPPICE_INLINE P earlier(P x) const {
    const int back = kWordBits - shift;
    return T::kBigEndian ? x << back : x >> back;
  }
};

// Steps of a chain over the batch: the range of all lanes, and each lane's own.
template <class T>
struct StepRange {
  using Word = typename T::Word;
  using P = typename T::P;
  static constexpr std::size_t kLanes = sizeof(P) / sizeof(Word);

  P lo{}, hi{};
  std::uint32_t first, last;
  bool per_lane;

  COPPICE_INLINE explicit StepRange(const ChainSteps& steps)
      : first(steps.first),
        last(steps.last),
        per_lane(steps.lane_first != nullptr || steps.lane_last != nullptr) {
    if (!per_lane) return;
    alignas(64) Word from[kLanes];
    alignas(64) Word to[kLanes];
    std::uint32_t least = ~std::uint32_t{0};
    std::uint32_t most = 0;
    // Whole rows: a choice of address for each lane becomes a gather with Clang.
    fill(from, steps.lane_first, steps.first);
    fill(to, steps.lane_last, steps.last);
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto a = static_cast<std::uint32_t>(from[l]);
      const auto b = static_cast<std::uint32_t>(to[l]);
      if (a >= b) continue;
      least = a < least ? a : least;
      most = b > most ? b : most;
    }
    lo = load_row<P>(from, 0);
    hi = load_row<P>(to, 0);
    first = least;
    last = most;
  }

  COPPICE_INLINE static void fill(Word* row, const std::uint32_t* each, std::uint32_t all) {
    if (each == nullptr) {
      for (std::size_t l = 0; l < kLanes; ++l) row[l] = all;
    } else {
      for (std::size_t l = 0; l < kLanes; ++l) row[l] = each[l];
    }
  }

  // Where step j runs.
  COPPICE_INLINE P mask(std::uint32_t j) const {
    return lanes_between(lo, splat<P>(static_cast<Word>(j)), hi);
  }
};

}  // namespace
}  // namespace coppice
