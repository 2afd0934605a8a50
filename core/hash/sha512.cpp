// SHA-512, the plain text of FIPS 180-4 section 6.4: the oracle of the batched kernels.
#include "core/hash/sha512.hpp"

#include <algorithm>
#include <bit>

#include "core/sys/wipe.hpp"

namespace coppice {

const std::array<std::uint64_t, 80> kSha512RoundConstants = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

const std::array<std::uint64_t, 8> kSha512Initial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

void sha512_compress(std::array<std::uint64_t, 8>& state, const std::uint8_t* block) noexcept {
  using std::rotr;
  std::array<std::uint64_t, 80> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = load_be64(block + 8 * t);
  for (std::size_t t = 16; t < 80; ++t) {
    const std::uint64_t s0 = rotr(w[t - 15], 1) ^ rotr(w[t - 15], 8) ^ (w[t - 15] >> 7);
    const std::uint64_t s1 = rotr(w[t - 2], 19) ^ rotr(w[t - 2], 61) ^ (w[t - 2] >> 6);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 80; ++t) {
    const std::uint64_t sum1 = rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41);
    const std::uint64_t ch = (e & f) ^ (~e & g);
    const std::uint64_t t1 = h + sum1 + ch + kSha512RoundConstants[t] + w[t];
    const std::uint64_t sum0 = rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39);
    const std::uint64_t maj = (a & b) ^ (a & c) ^ (b & c);
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

Sha512::~Sha512() {
  wipe(state_.data(), sizeof state_);
  wipe(buffer_.data(), buffer_.size());
}

void Sha512::update(ByteView data) noexcept {
  std::size_t used = length_ % kSha512Block;
  length_ += data.size();
  if (used != 0) {
    const std::size_t n = std::min(kSha512Block - used, data.size());
    std::copy_n(data.begin(), n, buffer_.begin() + static_cast<std::ptrdiff_t>(used));
    data = data.subspan(n);
    if (used + n < kSha512Block) return;
    sha512_compress(state_, buffer_.data());
  }
  while (data.size() >= kSha512Block) {
    sha512_compress(state_, data.data());
    data = data.subspan(kSha512Block);
  }
  std::copy(data.begin(), data.end(), buffer_.begin());
}

void Sha512::final(ByteSpan out) noexcept {  // padding: section 5.1.1
  const std::uint64_t bits = length_ * 8;
  const std::array<std::uint8_t, kSha512Block> pad = {0x80};
  const std::size_t used = length_ % kSha512Block;
  const std::size_t zeros = used < 112 ? 112 - used : 240 - used;
  update(ByteView(pad).first(1));
  if (zeros > 1) {
    const std::array<std::uint8_t, kSha512Block> none{};
    update(ByteView(none).first(zeros - 1));
  }
  std::array<std::uint8_t, 16> size{};  // lengths below 2^64 bits
  store_be64(&size[8], bits);
  update(size);
  std::array<std::uint8_t, 64> digest{};
  for (std::size_t i = 0; i < 8; ++i) store_be64(&digest[8 * i], state_[i]);
  std::copy_n(digest.begin(), std::min<std::size_t>(out.size(), 64), out.begin());
  wipe(digest.data(), digest.size());
}

void hmac_sha512(ByteView key, ByteView data, ByteSpan out) noexcept {
  std::array<std::uint8_t, kSha512Block> block{};
  if (key.size() > kSha512Block) {
    Sha512 h;
    h.update(key);
    h.final(ByteSpan(block).first(64));
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  std::array<std::uint8_t, kSha512Block> pad{};
  std::array<std::uint8_t, 64> inner{};
  for (std::size_t i = 0; i < kSha512Block; ++i) pad[i] = block[i] ^ 0x36;
  Sha512 in;
  in.update(pad);
  in.update(data);
  in.final(inner);
  for (std::size_t i = 0; i < kSha512Block; ++i) pad[i] = block[i] ^ 0x5c;
  Sha512 outer;
  outer.update(pad);
  outer.update(inner);
  outer.final(out);
  wipe(block.data(), block.size());
  wipe(pad.data(), pad.size());
  wipe(inner.data(), inner.size());
}

}  // namespace coppice
