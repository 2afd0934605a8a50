// Keccak-f[1600] and SHAKE256, the plain text of the standard. FIPS 202 sections 3 and 6.2.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace coppice {

inline constexpr std::size_t kShake256Rate = 136;

extern const std::array<std::uint64_t, 24> kKeccakRoundConstants;  // section 3.2.5
extern const std::array<std::uint8_t, 25> kKeccakRotations;        // section 3.2.2, index x + 5y

void keccak_f1600(std::array<std::uint64_t, 25>& state) noexcept;

class Shake256 {
 public:
  ~Shake256();
  void update(ByteView data) noexcept;
  // Pads and squeezes out.size() bytes (any number). The object may not be used again.
  void final(ByteSpan out) noexcept;

 private:
  void absorb_byte(std::uint8_t byte) noexcept;
  std::array<std::uint64_t, 25> state_{};
  std::size_t at_ = 0;  // position in the rate
};

}  // namespace coppice
