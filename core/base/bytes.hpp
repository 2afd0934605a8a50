// Byte views, fixed-width integers in both byte orders, and a bounds-checked reader for parsers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace coppice {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
using ByteSpan = std::span<std::uint8_t>;

inline void store_be16(std::uint8_t* p, std::uint16_t v) noexcept {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}

inline void store_be32(std::uint8_t* p, std::uint32_t v) noexcept {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, 4);
}

inline void store_be64(std::uint8_t* p, std::uint64_t v) noexcept {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, 8);
}

[[nodiscard]] inline std::uint16_t load_be16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint16_t>((p[0] << 8) | p[1]);
}

[[nodiscard]] inline std::uint32_t load_be32(const std::uint8_t* p) noexcept {
  std::uint32_t v;
  std::memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}

[[nodiscard]] inline std::uint64_t load_be64(const std::uint8_t* p) noexcept {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return __builtin_bswap64(v);
}

inline void append(Bytes& out, ByteView data) {
  const std::size_t at = out.size();
  out.resize(at + data.size());
  if (!data.empty()) std::memcpy(out.data() + at, data.data(), data.size());
}

inline void append_be32(Bytes& out, std::uint32_t v) {
  std::array<std::uint8_t, 4> b{};
  store_be32(b.data(), v);
  append(out, b);
}

inline void append_be64(Bytes& out, std::uint64_t v) {
  std::array<std::uint8_t, 8> b{};
  store_be64(b.data(), v);
  append(out, b);
}

[[nodiscard]] inline ByteView as_bytes(std::string_view s) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

[[nodiscard]] inline bool equal(ByteView a, ByteView b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// Walks over untrusted input; every read is checked, a short input is Errc::bad_data with `what`.
class Reader {
 public:
  Reader(ByteView data, std::string what) : data_(data), what_(std::move(what)) {}

  [[nodiscard]] ByteView take(std::size_t n) {
    if (n > remaining()) {
      fail(Errc::bad_data, what_ + ": too short, " + std::to_string(n) + " bytes expected at byte " +
                               std::to_string(at_) + ", " + std::to_string(remaining()) +
                               " are there");
    }
    ByteView part = data_.subspan(at_, n);
    at_ += n;
    return part;
  }
  [[nodiscard]] std::uint32_t u32() { return load_be32(take(4).data()); }
  [[nodiscard]] std::uint64_t u64() { return load_be64(take(8).data()); }
  [[nodiscard]] std::size_t remaining() const noexcept { return data_.size() - at_; }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }
  void expect_end() const {
    if (remaining() != 0) {
      fail(Errc::bad_data, what_ + ": " + std::to_string(remaining()) + " bytes left over");
    }
  }

 private:
  ByteView data_;
  std::string what_;
  std::size_t at_ = 0;
};

}  // namespace coppice
