// The one contract of batched hash kernels: many equal-length messages, one per lane, words in SoA.
//
// Every hash input of the tree schemes has the form  head || body, where the head is short and
// known (tree identifier, indices, domain separator, address) and the body is one or more digests
// that an earlier call left in lanes. A kernel never sees a message as bytes: the head is a
// template and the body stays in words, shifted into place when it does not start on a word
// boundary.
//
// Lane layout ("SoA"): word k of lane l is element k * lanes + l; words are the hash's own, 4 bytes
// (SHA-256, LSH-256) or 8 bytes (SHA-512, Keccak), as host integers. An n-byte digest is
// n / word_bytes words. Buffers are 64-byte aligned and hold whole lane groups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/hash/hash_id.hpp"

namespace coppice {

// Upper bound of HashMany::lanes over all kernels; sizes lane arrays that callers keep.
inline constexpr std::size_t kMaxLanes = 64;
// Longest head: SHAKE sets of SLH-DSA, PK.seed(32) || ADRS(32).
inline constexpr std::size_t kMaxHead = 64;
inline constexpr std::size_t kMaxHeadFields = 16;

// What stands before the body. Bytes are the same in all lanes except the listed 4-byte fields.
struct MessageHead {
  std::array<std::uint8_t, kMaxHead> bytes{};  // [0, length) are used
  std::uint8_t length = 0;                     // 1..kMaxHead; the body starts at this byte
  // Per-lane fields: `field[f][l]` is the big-endian u32 at byte `field_offset[f]` of lane l's head
  // and replaces the bytes above. Offsets are multiples of 4 and ascending. A field may reach past
  // `length` (LMS: bytes 20..23 with the body at 22 or 23); the bytes past it must be zero.
  std::uint8_t field_count = 0;
  std::array<std::uint8_t, kMaxHeadFields> field_offset{};
  std::array<const std::uint32_t*, kMaxHeadFields> field{};
  // Whole blocks absorbed before the head (SLH-DSA: PK.seed and zeros). `midstate` is the chaining
  // value in words, one value for all lanes, or SoA when midstate_in_lanes. nullptr: start of
  // message.
  const void* midstate = nullptr;
  bool midstate_in_lanes = false;
  std::uint32_t absorbed = 0;  // bytes behind the midstate, counted in the padding

  void add_field(std::size_t offset, const std::uint32_t* values) noexcept {
    field_offset[field_count] = static_cast<std::uint8_t>(offset);
    field[field_count] = values;
    ++field_count;
  }
};

// Which steps of a hash chain to run. The step number is the head byte at `counter`.
struct ChainSteps {
  // Offset in the head. With a field over it, the step number is added to the field, whose byte at
  // `counter` must be 0 in every lane.
  std::uint8_t counter = 0;
  std::uint32_t first = 0;  // all lanes run j = first .. last-1, or
  std::uint32_t last = 0;
  const std::uint32_t* lane_first =
      nullptr;  // per lane j = lane_first[l] .. last-1 (verification),
  const std::uint32_t* lane_last =
      nullptr;  // or first .. lane_last[l]-1 (signing); lanes outside keep
};

// One hash on one instruction family. All functions: no allocation, no exceptions, no
// data-dependent branch or address (lane_first/lane_last are public values and may decide loop
// bounds).
struct HashMany {
  std::string_view name;  // "avx512", "sha-ni", "avx2", "portable", ...
  HashId hash;
  unsigned lanes;       // messages per call, 1..kMaxLanes
  unsigned word_bytes;  // 4 or 8
  bool big_endian;      // byte order of words inside the message

  // out = first n bytes of H(head || body), n in {16, 24, 32}. `body_bytes` per lane is a multiple
  // of 8 and may be 0 or span many blocks. `out` may be `body` (in place).
  void (*digest)(const MessageHead& head, const void* body, std::size_t body_bytes, std::size_t n,
                 void* out) noexcept;

  // x = first n bytes of H(head with step number j || x), for each j of `steps` in order. `x` is
  // one digest in lanes, updated in place. head || x must fit one block.
  void (*chain)(const MessageHead& head, const ChainSteps& steps, std::size_t n, void* x) noexcept;
};

// Puts `bytes` (a multiple of word_bytes) into lane `lane` of an SoA buffer, and back.
inline void put_lane(const HashMany& k, std::size_t lane, ByteView bytes, void* soa) noexcept {
  auto* base = static_cast<std::uint8_t*>(soa);
  for (std::size_t at = 0, w = 0; at < bytes.size(); at += k.word_bytes, ++w) {
    std::uint8_t* to = base + (w * k.lanes + lane) * k.word_bytes;
    if (k.word_bytes == 4) {
      std::uint32_t v;
      std::memcpy(&v, &bytes[at], 4);
      if (k.big_endian) v = __builtin_bswap32(v);
      std::memcpy(to, &v, 4);
    } else {
      std::uint64_t v;
      std::memcpy(&v, &bytes[at], 8);
      if (k.big_endian) v = __builtin_bswap64(v);
      std::memcpy(to, &v, 8);
    }
  }
}

inline void get_lane(const HashMany& k, std::size_t lane, const void* soa,
                     ByteSpan bytes) noexcept {
  const auto* base = static_cast<const std::uint8_t*>(soa);
  for (std::size_t at = 0, w = 0; at < bytes.size(); at += k.word_bytes, ++w) {
    const std::uint8_t* from = base + (w * k.lanes + lane) * k.word_bytes;
    if (k.word_bytes == 4) {
      std::uint32_t v;
      std::memcpy(&v, from, 4);
      if (k.big_endian) v = __builtin_bswap32(v);
      std::memcpy(&bytes[at], &v, 4);
    } else {
      std::uint64_t v;
      std::memcpy(&v, from, 8);
      if (k.big_endian) v = __builtin_bswap64(v);
      std::memcpy(&bytes[at], &v, 8);
    }
  }
}

}  // namespace coppice
