// SHA-256, the plain text of FIPS 180-4 section 6.2: the oracle of the batched kernels.
#include "core/hash/sha256.hpp"

#include <algorithm>
#include <bit>

#include "core/sys/wipe.hpp"

namespace coppice {

const std::array<std::uint32_t, 64> kSha256RoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

const std::array<std::uint32_t, 8> kSha256Initial = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void sha256_compress(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) noexcept {
  using std::rotr;
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = load_be32(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    const std::uint32_t ch = (e & f) ^ (~e & g);
    const std::uint32_t t1 = h + sum1 + ch + kSha256RoundConstants[t] + w[t];
    const std::uint32_t sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    const std::uint32_t maj = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + sum0 + maj;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

Sha256::~Sha256() {
  wipe(state_.data(), sizeof state_);
  wipe(buffer_.data(), buffer_.size());
}

void Sha256::update(ByteView data) noexcept {
  std::size_t used = length_ % kSha256Block;
  length_ += data.size();
  if (used != 0) {
    const std::size_t n = std::min(kSha256Block - used, data.size());
    std::copy_n(data.begin(), n, buffer_.begin() + static_cast<std::ptrdiff_t>(used));
    data = data.subspan(n);
    if (used + n < kSha256Block) return;
    sha256_compress(state_, buffer_.data());
  }
  while (data.size() >= kSha256Block) {
    sha256_compress(state_, data.data());
    data = data.subspan(kSha256Block);
  }
  std::copy(data.begin(), data.end(), buffer_.begin());
}

void Sha256::final(ByteSpan out) noexcept {  // padding: section 5.1.1
  const std::uint64_t bits = length_ * 8;
  const std::array<std::uint8_t, kSha256Block> pad = {0x80};
  const std::size_t used = length_ % kSha256Block;
  const std::size_t zeros = used < 56 ? 56 - used : 120 - used;
  update(ByteView(pad).first(1));
  if (zeros > 1) {
    const std::array<std::uint8_t, kSha256Block> none{};
    update(ByteView(none).first(zeros - 1));
  }
  std::array<std::uint8_t, 8> size{};
  store_be64(size.data(), bits);
  update(size);
  std::array<std::uint8_t, 32> digest{};
  for (std::size_t i = 0; i < 8; ++i) store_be32(&digest[4 * i], state_[i]);
  std::copy_n(digest.begin(), std::min<std::size_t>(out.size(), 32), out.begin());
  wipe(digest.data(), digest.size());
}

void hmac_sha256(ByteView key, ByteView data, ByteSpan out) noexcept {
  std::array<std::uint8_t, kSha256Block> block{};
  if (key.size() > kSha256Block) {
    Sha256 h;
    h.update(key);
    h.final(ByteSpan(block).first(32));
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  std::array<std::uint8_t, kSha256Block> pad{};
  std::array<std::uint8_t, 32> inner{};
  for (std::size_t i = 0; i < kSha256Block; ++i) pad[i] = block[i] ^ 0x36;
  Sha256 in;
  in.update(pad);
  in.update(data);
  in.final(inner);
  for (std::size_t i = 0; i < kSha256Block; ++i) pad[i] = block[i] ^ 0x5c;
  Sha256 outer;
  outer.update(pad);
  outer.update(inner);
  outer.final(out);
  wipe(block.data(), block.size());
  wipe(pad.data(), pad.size());
  wipe(inner.data(), inner.size());
}

}  // namespace coppice
