// OpenSSL's hashing, as benchmarks compare it: never called outside "coppice bench" and tests.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/hash/hash_id.hpp"

namespace coppice {

// One bare compression, without EVP: the fastest that OpenSSL has for one short message.
void openssl_sha256_transform(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) noexcept;

void openssl_sha512_transform(std::array<std::uint64_t, 8>& state, const std::uint8_t* block) noexcept;

// EVP at its best: fetched once, context reused; one init, update and final per message.
class EvpHash {
 public:
  explicit EvpHash(HashId hash);
  ~EvpHash();
  EvpHash(const EvpHash&) = delete;
  EvpHash& operator=(const EvpHash&) = delete;
  // `out` takes 64 bytes for SHA-512, else 32 (SHAKE256 squeezes 32).
  void digest(ByteView message, std::uint8_t* out) noexcept;

 private:
  void* md_;
  void* context_;
  bool xof_;
};

}  // namespace coppice
