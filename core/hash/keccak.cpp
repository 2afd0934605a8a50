// Keccak-f[1600] and SHAKE256, the plain text of the standard. FIPS 202 sections 3 and 6.2.
#include "core/hash/keccak.hpp"

#include <bit>

#include "core/sys/wipe.hpp"

namespace coppice {

const std::array<std::uint64_t, 24> kKeccakRoundConstants = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

const std::array<std::uint8_t, 25> kKeccakRotations = {
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};

void keccak_f1600(std::array<std::uint64_t, 25>& a) noexcept {
  for (const std::uint64_t constant : kKeccakRoundConstants) {
    std::array<std::uint64_t, 5> c{};
    for (std::size_t x = 0; x < 5; ++x) {
      c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    }
    std::array<std::uint64_t, 25> b{};  // theta, rho and pi (sections 3.2.1 to 3.2.3)
    for (std::size_t x = 0; x < 5; ++x) {
      const std::uint64_t d = c[(x + 4) % 5] ^ std::rotl(c[(x + 1) % 5], 1);
      for (std::size_t y = 0; y < 5; ++y) {
        b[y + 5 * ((2 * x + 3 * y) % 5)] = std::rotl(a[x + 5 * y] ^ d, kKeccakRotations[x + 5 * y]);
      }
    }
    for (std::size_t y = 0; y < 25; y += 5) {  // chi (section 3.2.4)
      for (std::size_t x = 0; x < 5; ++x) {
        a[x + y] = b[x + y] ^ (~b[(x + 1) % 5 + y] & b[(x + 2) % 5 + y]);
      }
    }
    a[0] ^= constant;  // iota (section 3.2.5)
  }
}

Shake256::~Shake256() { wipe(state_.data(), sizeof state_); }

void Shake256::absorb_byte(std::uint8_t byte) noexcept {
  state_[at_ / 8] ^= static_cast<std::uint64_t>(byte) << (8 * (at_ % 8));
}

void Shake256::update(ByteView data) noexcept {
  for (const std::uint8_t byte : data) {
    absorb_byte(byte);
    if (++at_ == kShake256Rate) {
      keccak_f1600(state_);
      at_ = 0;
    }
  }
}

void Shake256::final(ByteSpan out) noexcept {  // suffix 1111 and pad10*1: section 6.2
  absorb_byte(0x1f);
  at_ = kShake256Rate - 1;
  absorb_byte(0x80);
  keccak_f1600(state_);
  at_ = 0;
  for (std::uint8_t& byte : out) {
    if (at_ == kShake256Rate) {
      keccak_f1600(state_);
      at_ = 0;
    }
    byte = static_cast<std::uint8_t>(state_[at_ / 8] >> (8 * (at_ % 8)));
    ++at_;
  }
}

}  // namespace coppice
