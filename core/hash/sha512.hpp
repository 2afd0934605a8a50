// SHA-512, the plain text of FIPS 180-4 section 6.4: the oracle of the batched kernels.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace coppice {

inline constexpr std::size_t kSha512Block = 128;

extern const std::array<std::uint64_t, 80> kSha512RoundConstants;  // section 4.2.3
extern const std::array<std::uint64_t, 8> kSha512Initial;          // section 5.3.5

void sha512_compress(std::array<std::uint64_t, 8>& state, const std::uint8_t* block) noexcept;

class Sha512 {
 public:
  ~Sha512();
  void update(ByteView data) noexcept;
  // Writes the first out.size() <= 64 bytes of the digest. The object may not be used again.
  void final(ByteSpan out) noexcept;

 private:
  std::array<std::uint64_t, 8> state_ = kSha512Initial;
  std::array<std::uint8_t, kSha512Block> buffer_{};
  std::uint64_t length_ = 0;  // bytes
};

// out = HMAC-SHA-512(key, data), first out.size() <= 64 bytes. RFC 2104.
void hmac_sha512(ByteView key, ByteView data, ByteSpan out) noexcept;

}  // namespace coppice
