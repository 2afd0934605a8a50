// One message at a time, hash chosen by data: for message digests, files and verification.
#pragma once

#include <variant>

#include "core/hash/hash_id.hpp"
#include "core/hash/keccak.hpp"
#include "core/hash/sha256.hpp"
#include "core/hash/sha512.hpp"

namespace coppice {

class Hasher {
 public:
  explicit Hasher(HashId id) {
    if (id == HashId::shake256) state_.emplace<Shake256>();
    if (id == HashId::sha512) state_.emplace<Sha512>();
  }
  Hasher& update(ByteView data) noexcept {
    std::visit([&](auto& h) { h.update(data); }, state_);
    return *this;
  }
  // Writes the first out.size() bytes of the digest; out.size() <= 32 for SHA-256, 64 for SHA-512.
  void final(ByteSpan out) noexcept {
    std::visit([&](auto& h) { h.final(out); }, state_);
  }

 private:
  std::variant<Sha256, Shake256, Sha512> state_;
};

}  // namespace coppice
