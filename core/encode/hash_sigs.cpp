// Key files of cisco/hash-sigs in its ACVP-compatible derivation (SECRET_METHOD 2): .prv and .aux.
#include "core/encode/hash_sigs.hpp"

#include <algorithm>
#include <limits>

#include "core/hash/sha256.hpp"

namespace coppice {
namespace {

constexpr std::size_t kAtTypes = 8;
constexpr std::size_t kAtSeed = 16;
constexpr std::size_t kAtIdentifier = 48;
constexpr std::uint8_t kUnusedLevel = 0xff;
constexpr std::uint64_t kExhausted = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kAuxMarker = 4;

bool tool_knows(const LmsPair& pair) { return pair.lms->hash == HashId::sha256 && pair.lms->m == 32; }

// Rows (depth counted from the root) that the tool's loader looks for and its generator writes.
std::vector<unsigned> aux_rows(const LmsPair& top, std::size_t budget) {
  std::vector<unsigned> rows;
  std::size_t used = kAuxMarker + top.lms->m;
  for (unsigned depth = top.lms->h % 2 == 0 ? 2 : 1; depth < top.lms->h; depth += 2) {
    const std::size_t more = (std::size_t{1} << depth) * top.lms->m;
    if (used + more > budget) break;
    used += more;
    rows.push_back(depth);
  }
  return rows;
}

}  // namespace

HashSigsPrivateKey decode_hash_sigs_private(ByteView file) {
  if (file.size() != kHashSigsPrivateBytes) {
    fail(Errc::bad_data, "hash-sigs private key has " + std::to_string(file.size()) +
                             " bytes; " + std::to_string(kHashSigsPrivateBytes) +
                             " are expected (SECRET_METHOD 2)");
  }
  HashSigsPrivateKey key;
  key.next = load_be64(file.data());
  bool ended = false;
  for (std::size_t i = 0; i < kMaxHssLevels; ++i) {
    const std::uint8_t code = file[kAtTypes + i];
    if (code == kUnusedLevel) {
      ended = true;
      continue;
    }
    LmsPair pair;
    std::string problem = "a level follows an unused one";
    if (ended || !make_pair(code >> 4, code & 15, pair, problem)) {
      fail(Errc::bad_data, "hash-sigs private key, level " + std::to_string(i) + ": " + problem);
    }
    if (!tool_knows(pair)) {
      fail(Errc::bad_data, "hash-sigs private key, level " + std::to_string(i) + ": " + pair.name() +
                               " is not a set of hash-sigs");
    }
    key.params.levels.push_back(pair);
  }
  if (key.params.levels.empty()) fail(Errc::bad_data, "hash-sigs private key has no levels");
  if (key.next != kExhausted && key.next >= key.params.capacity()) {
    fail(Errc::bad_data, "hash-sigs private key has an index past its last signature");
  }
  key.top.seed = Secret<kMaxSeed>(file.subspan(kAtSeed).first<kMaxSeed>());
  key.top.seed_bytes = kMaxSeed;
  std::copy_n(file.begin() + kAtIdentifier, kIdentifierBytes, key.top.identifier.begin());
  return key;
}

WipedBytes encode_hash_sigs_private(const HashSigsPrivateKey& key) {
  WipedBytes out(kHashSigsPrivateBytes);
  const ByteSpan file = out.span();
  store_be64(file.data(), key.next >= key.params.capacity() ? kExhausted : key.next);
  std::fill_n(file.begin() + kAtTypes, kMaxHssLevels, kUnusedLevel);
  for (std::size_t i = 0; i < key.params.levels.size(); ++i) {
    const LmsPair& pair = key.params.levels[i];
    if (!tool_knows(pair)) {
      fail(Errc::usage, "hash-sigs cannot hold " + pair.name() + "; it knows SHA-256 with 32 bytes");
    }
    file[kAtTypes + i] = static_cast<std::uint8_t>(pair.lms->type << 4 | pair.ots->type);
  }
  std::ranges::copy(key.top.seed.bytes(), file.begin() + kAtSeed);
  std::ranges::copy(key.top.identifier, file.begin() + kAtIdentifier);
  return out;
}

unsigned hash_sigs_aux_depth(const LmsPair& top, std::size_t budget) noexcept {
  const std::vector<unsigned> rows = aux_rows(top, budget);
  return rows.empty() ? 0 : rows.back();
}

Bytes encode_hash_sigs_aux(const LmsPair& top, const LmsTreeSecret& secret, const TreeCache& cache,
                           std::size_t budget) {
  const std::vector<unsigned> rows = aux_rows(top, budget);
  if (rows.empty()) return {0};
  std::uint32_t marker = 0x80000000U;
  for (const unsigned depth : rows) marker |= std::uint32_t{1} << depth;
  Bytes out;
  append_be32(out, marker);
  for (const unsigned depth : rows) {
    const unsigned height = top.lms->h - depth;
    for (std::uint64_t i = 0; i < std::uint64_t{1} << depth; ++i) append(out, cache.node({height, i}));
  }
  // MAC key = SHA-256(20 zero bytes || fdfd || seed).
  std::array<std::uint8_t, 22> head{};
  head[20] = 0xfd;
  head[21] = 0xfd;
  Secret<32> mac_key;
  Sha256 h;
  h.update(head);
  h.update(secret.seed_view());
  h.final(mac_key.writable());
  const std::size_t at = out.size();
  out.resize(at + top.lms->m);
  hmac_sha256(mac_key.bytes(), ByteView(out).first(at), ByteSpan(out).subspan(at));
  return out;
}

}  // namespace coppice
