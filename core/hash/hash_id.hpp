// Names of the hash functions that parameter rows refer to.
#pragma once

#include <cstdint>
#include <string_view>

namespace coppice {

enum class HashId : std::uint8_t { sha256, shake256, sha512 };

[[nodiscard]] constexpr std::string_view hash_name(HashId id) noexcept {
  switch (id) {
    case HashId::sha256:
      return "sha256";
    case HashId::shake256:
      return "shake256";
    case HashId::sha512:
      return "sha512";
  }
  return "?";
}

}  // namespace coppice
