// SHA-256, the plain text of FIPS 180-4 section 6.2: the oracle of the batched kernels.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace coppice {

inline constexpr std::size_t kSha256Block = 64;

extern const std::array<std::uint32_t, 64> kSha256RoundConstants;  // section 4.2.2
extern const std::array<std::uint32_t, 8> kSha256Initial;          // section 5.3.3

void sha256_compress(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) noexcept;

class Sha256 {
 public:
  ~Sha256();
  void update(ByteView data) noexcept;
  // Writes the first out.size() <= 32 bytes of the digest. The object may not be used again.
  void final(ByteSpan out) noexcept;

 private:
  std::array<std::uint32_t, 8> state_ = kSha256Initial;
  std::array<std::uint8_t, kSha256Block> buffer_{};
  std::uint64_t length_ = 0;  // bytes
};

// out = HMAC-SHA-256(key, data), first out.size() bytes. RFC 2104.
void hmac_sha256(ByteView key, ByteView data, ByteSpan out) noexcept;

}  // namespace coppice
