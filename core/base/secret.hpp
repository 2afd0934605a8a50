// The only holder of private bytes: fixed size, wiped, neither copyable, printable nor comparable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.hpp"
#include "core/sys/wipe.hpp"

namespace coppice {

// N is the capacity in bytes. A move wipes its source.
template <std::size_t N>
class Secret {
 public:
  Secret() noexcept = default;
  explicit Secret(std::span<const std::uint8_t, N> from) noexcept {
    std::copy(from.begin(), from.end(), bytes_.begin());
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { other.clear(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      other.clear();
    }
    return *this;
  }
  ~Secret() { clear(); }

  // A deliberate second copy, named so that it can be searched for.
  [[nodiscard]] Secret duplicate() const noexcept { return Secret(bytes()); }

  [[nodiscard]] std::span<const std::uint8_t, N> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::uint8_t, N> writable() noexcept { return bytes_; }
  void clear() noexcept { wipe(bytes_.data(), N); }

  bool operator==(const Secret&) const = delete;

 private:
  std::array<std::uint8_t, N> bytes_{};
};

// A growable buffer that held or holds private bytes (file images, lane buffers): wiped at its end.
class WipedBytes {
 public:
  WipedBytes() = default;
  explicit WipedBytes(std::size_t size) : bytes_(size) {}
  explicit WipedBytes(Bytes&& from) noexcept : bytes_(std::move(from)) {}
  WipedBytes(const WipedBytes&) = delete;
  WipedBytes& operator=(const WipedBytes&) = delete;
  WipedBytes(WipedBytes&& other) noexcept : bytes_(std::move(other.bytes_)) {}
  WipedBytes& operator=(WipedBytes&& other) noexcept {
    clear();
    bytes_ = std::move(other.bytes_);
    return *this;
  }
  ~WipedBytes() { clear(); }

  [[nodiscard]] ByteView view() const noexcept { return bytes_; }
  [[nodiscard]] ByteSpan span() noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  void clear() noexcept {
    if (!bytes_.empty()) wipe(bytes_.data(), bytes_.size());
  }
  Bytes bytes_;
};

}  // namespace coppice
