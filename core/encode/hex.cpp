// Hexadecimal text.
#include "core/encode/hex.hpp"

namespace coppice {
namespace {

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteView data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * data.size());
  for (const std::uint8_t b : data) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

Bytes from_hex(std::string_view text, std::string_view what) {
  if (text.size() % 2 != 0) {
    fail(Errc::usage, std::string(what) + ": hexadecimal text has an odd number of digits");
  }
  Bytes out(text.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      fail(Errc::usage, std::string(what) + ": not hexadecimal at digit " + std::to_string(2 * i + 1));
    }
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

}  // namespace coppice
