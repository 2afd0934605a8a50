// NAME.key, NAME.cache and NAME.pub: layouts, strict reading, writing. docs/formats.md.
#include "node/key_file.hpp"

#include <algorithm>
#include <string_view>

#include "core/encode/hex.hpp"
#include "core/encode/spki.hpp"
#include "core/hash/sha256.hpp"

namespace coppice {
namespace {

// NAME.key, version 1, 232 bytes, integers big-endian:
//     0   8  "COPPICEK"
//     8   4  version, 1
//    12   4  flags: bit 0 complete, bit 1 insecure seed; all others 0
//    16   4  child seeds: 0 derived from the parent, 1 independent (in the ledger)
//    20   4  rows of NAME.cache below the root, at most the height of the top tree
//    24   8  time of creation, seconds since 1970-01-01 UTC
//    32  16  key id
//    48   4  L, the number of levels, 1 to 8
//    52  64  8 times u32 LMS type || u32 LM-OTS type, top first; zero beyond L
//   116  16  I of the top tree
//   132   4  bytes of SEED: n or 32
//   136  32  SEED, zero-padded
//   168  32  root T[1], zero-padded; all zero while generating
//   200  32  SHA-256 of bytes 0 to 199
constexpr std::string_view kKeyMagic = "COPPICEK";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kKeyBytes = 232;
constexpr std::uint32_t kFlagComplete = 1;
constexpr std::uint32_t kFlagInsecureSeed = 2;

// NAME.cache, version 1:
//     0   8  "COPPICEC"
//     8   4  version, 1
//    12   4  LMS type of the top tree
//    16   4  LM-OTS type of the top tree
//    20   4  depth d: rows below the root
//    24   8  N = (2^(d+1) - 1) * m, bytes of the nodes
//    32  16  key id
//    48  16  I of the top tree
//    64   N  nodes, heap order: root, its children, ... row d
//  64+N  32  SHA-256 of bytes 0 to 63+N
constexpr std::string_view kCacheMagic = "COPPICEC";
constexpr std::size_t kCacheHead = 64;

constexpr std::size_t kDigest = 32;
constexpr std::string_view kPemLabel = "PUBLIC KEY";

bool all_zero(ByteView data) noexcept {
  return std::ranges::all_of(data, [](std::uint8_t b) { return b == 0; });
}

std::array<std::uint8_t, kDigest> checksum(ByteView data) noexcept {
  std::array<std::uint8_t, kDigest> digest{};
  Sha256 hash;
  hash.update(data);
  hash.final(digest);
  return digest;
}

// Fills a buffer of known size from the front; never grows, so no copies of secrets stay behind.
class Writer {
 public:
  explicit Writer(ByteSpan out) noexcept : out_(out) {}
  void put(ByteView data) noexcept {
    std::ranges::copy(data, out_.begin());
    out_ = out_.subspan(data.size());
  }
  void u32(std::uint32_t v) noexcept {
    store_be32(out_.data(), v);
    out_ = out_.subspan(4);
  }
  void u64(std::uint64_t v) noexcept {
    store_be64(out_.data(), v);
    out_ = out_.subspan(8);
  }

 private:
  ByteSpan out_;
};

// What keeps a key from being a whole one, or "". Held against it before writing and after reading.
std::string problem_of(const HssKeyFile& key) {
  const std::vector<LmsPair>& levels = key.params.levels;
  if (levels.empty() || levels.size() > kMaxHssLevels) {
    return "it has " + std::to_string(levels.size()) + " levels; 1 to 8 are possible";
  }
  for (const LmsPair& pair : levels) {
    if (pair.lms->hash != levels.front().lms->hash || pair.lms->m != levels.front().lms->m) {
      return "its levels mix hashes: " + key.params.name();
    }
  }
  const LmsParams& top = *levels.front().lms;
  if (key.cache_depth > top.h) {
    return "cache depth " + std::to_string(key.cache_depth) + " is above the tree height " +
           std::to_string(top.h);
  }
  if (key.top.seed_bytes != top.m && key.top.seed_bytes != kMaxSeed) {
    return "SEED has " + std::to_string(key.top.seed_bytes) + " bytes; " + std::string(top.name) +
           " takes " + std::to_string(top.m) + (top.m == kMaxSeed ? "" : " or 32");
  }
  if (!all_zero(ByteView(key.top.seed.bytes()).subspan(key.top.seed_bytes))) {
    return "bytes after SEED are not zero";
  }
  if (!all_zero(ByteView(key.root).subspan(top.m))) return "bytes after the root are not zero";
  if (key.complete == all_zero(key.root)) {
    return key.complete ? "it is marked complete and has no root"
                        : "it is marked as generating and has a root";
  }
  return {};
}

// Says what a file is that was taken for another kind.
std::string describe(ByteView file) {
  if (file.empty()) return "an empty file";
  const auto starts = [&](std::string_view s) {
    return file.size() >= s.size() && equal(file.first(s.size()), as_bytes(s));
  };
  if (starts(kKeyMagic)) return "a private key of Coppice (NAME.key)";
  if (starts(kCacheMagic)) return "a tree cache of Coppice (NAME.cache)";
  if (starts("SQLite format 3")) return "an SQLite database, perhaps a ledger (NAME.state)";
  if (starts("-----BEGIN ")) {
    const ByteView line = file.first(std::min<std::size_t>(file.size(), 64));
    const std::string_view text(reinterpret_cast<const char*>(line.data()), line.size());
    return "PEM text '" + std::string(text.substr(0, text.find_first_of("\r\n"))) + "'";
  }
  return std::to_string(file.size()) + " bytes starting with 0x" +
         to_hex(file.first(std::min<std::size_t>(file.size(), 8)));
}

// Magic, version and checksum: the frame that both of our formats share.
void check_magic(ByteView file, std::string_view magic, const std::string& name, const char* kind) {
  if (file.size() < magic.size() || !equal(file.first(magic.size()), as_bytes(magic))) {
    fail(Errc::bad_data, name + ": not " + kind + " but " + describe(file));
  }
  if (file.size() < magic.size() + 4)
    fail(Errc::bad_data, name + ": cut off after its first bytes");
  const std::uint32_t version = load_be32(file.data() + magic.size());
  if (version != kVersion) {
    fail(Errc::bad_data, name + ": format version " + std::to_string(version) +
                             " is unknown; this program reads version 1");
  }
}

void check_frame(ByteView file, std::uint64_t size, const std::string& name) {
  if (file.size() != size) {
    fail(Errc::bad_data, name + ": damaged, " + std::to_string(file.size()) + " bytes instead of " +
                             std::to_string(size));
  }
  if (!equal(checksum(file.first(file.size() - kDigest)), file.last(kDigest))) {
    fail(Errc::bad_data, name + ": damaged, its checksum is wrong; restore it from a copy");
  }
}

std::uint64_t cache_node_bytes(unsigned depth, unsigned m) noexcept {
  return ((std::uint64_t{2} << depth) - 1) * m;
}

}  // namespace

HssPublicKey HssKeyFile::public_key() const {
  if (!complete && all_zero(root)) {
    fail(Errc::unavailable, "key generation has not finished; run keygen with --resume");
  }
  return {static_cast<std::uint32_t>(params.levels.size()),
          {params.levels.front(), top.identifier, root}};
}

WipedBytes encode_key_file(const HssKeyFile& key) {
  if (const std::string problem = problem_of(key); !problem.empty()) {
    fail(Errc::internal, "key file not written: " + problem);
  }
  WipedBytes file(kKeyBytes);
  Writer out(file.span());
  out.put(as_bytes(kKeyMagic));
  out.u32(kVersion);
  out.u32((key.complete ? kFlagComplete : 0) | (key.insecure_seed ? kFlagInsecureSeed : 0));
  out.u32(static_cast<std::uint32_t>(key.child_seeds));
  out.u32(key.cache_depth);
  out.u64(key.created);
  out.put(key.id);
  out.u32(static_cast<std::uint32_t>(key.params.levels.size()));
  for (std::size_t i = 0; i < kMaxHssLevels; ++i) {
    const bool used = i < key.params.levels.size();
    out.u32(used ? key.params.levels[i].lms->type : 0);
    out.u32(used ? key.params.levels[i].ots->type : 0);
  }
  out.put(key.top.identifier);
  out.u32(static_cast<std::uint32_t>(key.top.seed_bytes));
  out.put(key.top.seed.bytes());
  out.put(key.root);
  out.put(checksum(file.view().first(kKeyBytes - kDigest)));
  return file;
}

HssKeyFile decode_key_file(ByteView file, const std::string& name) {
  check_magic(file, kKeyMagic, name, "a private key of Coppice");
  check_frame(file, kKeyBytes, name);
  const auto damaged = [&](const std::string& why) { fail(Errc::bad_data, name + ": " + why); };

  Reader in(file.first(kKeyBytes - kDigest), name);
  (void)in.take(kKeyMagic.size() + 4);
  HssKeyFile key;
  const std::uint32_t flags = in.u32();
  if ((flags & ~(kFlagComplete | kFlagInsecureSeed)) != 0) damaged("unknown flags");
  key.complete = (flags & kFlagComplete) != 0;
  key.insecure_seed = (flags & kFlagInsecureSeed) != 0;
  const std::uint32_t child_seeds = in.u32();
  if (child_seeds > static_cast<std::uint32_t>(ChildSeeds::independent))
    damaged("unknown child seeds");
  key.child_seeds = static_cast<ChildSeeds>(child_seeds);
  key.cache_depth = in.u32();
  key.created = in.u64();
  std::ranges::copy(in.take(key.id.size()), key.id.begin());

  const std::uint32_t levels = in.u32();
  if (levels < 1 || levels > kMaxHssLevels) {
    damaged("it has " + std::to_string(levels) + " levels; 1 to 8 are possible");
  }
  for (std::uint32_t i = 0; i < kMaxHssLevels; ++i) {
    const std::uint32_t lms = in.u32();
    const std::uint32_t ots = in.u32();
    LmsPair pair;
    std::string problem;
    if (i >= levels) {
      if (lms != 0 || ots != 0) damaged("types beyond its last level");
    } else if (!make_pair(lms, ots, pair, problem)) {
      damaged("level " + std::to_string(i) + ": " + problem);
    } else {
      key.params.levels.push_back(pair);
    }
  }
  std::ranges::copy(in.take(kIdentifierBytes), key.top.identifier.begin());
  key.top.seed_bytes = in.u32();
  std::ranges::copy(in.take(kMaxSeed), key.top.seed.writable().begin());
  std::ranges::copy(in.take(kMaxNode), key.root.begin());
  in.expect_end();
  if (const std::string problem = problem_of(key); !problem.empty()) damaged(problem);
  return key;
}

Bytes encode_cache_file(const HssKeyFile& key, const TreeCache& cache) {
  const LmsPair& top = key.params.levels.front();
  if (cache.depth() != key.cache_depth || cache.tree_height() != top.lms->h ||
      cache.node_bytes() != top.lms->m ||
      !equal(cache.root(), ByteView(key.root).first(top.lms->m))) {
    fail(Errc::internal, "cache file not written: the cache is not of this key");
  }
  const std::uint64_t nodes = cache_node_bytes(cache.depth(), top.lms->m);
  Bytes file(kCacheHead + cache.bytes().size() + kDigest);
  Writer out(file);
  out.put(as_bytes(kCacheMagic));
  out.u32(kVersion);
  out.u32(top.lms->type);
  out.u32(top.ots->type);
  out.u32(cache.depth());
  out.u64(nodes);
  out.put(key.id);
  out.put(key.top.identifier);
  out.put(cache.bytes());
  out.put(checksum(ByteView(file).first(file.size() - kDigest)));
  return file;
}

CacheHead decode_cache_head(ByteView file, const std::string& name) {
  const auto damaged = [&](const std::string& why) { fail(Errc::bad_data, name + ": " + why); };
  check_magic(file, kCacheMagic, name, "a tree cache of Coppice");
  if (file.size() < kCacheHead + kDigest) damaged("cut off inside its head");
  Reader in(file.first(kCacheHead), name);
  (void)in.take(kCacheMagic.size() + 4);
  CacheHead head;
  const std::uint32_t lms = in.u32();
  std::string problem;
  if (!make_pair(lms, in.u32(), head.pair, problem)) damaged(problem);
  head.depth = in.u32();
  if (head.depth > head.pair.lms->h) damaged("its depth is above the height of the tree");
  // The length is known from types and depth: nothing else decides how much memory is used.
  const std::uint64_t nodes = cache_node_bytes(head.depth, head.pair.lms->m);
  if (in.u64() != nodes) damaged("a cache of another depth than it says");
  check_frame(file, kCacheHead + nodes + kDigest, name);
  std::ranges::copy(in.take(head.id.size()), head.id.begin());
  std::ranges::copy(in.take(kIdentifierBytes), head.identifier.begin());
  in.expect_end();
  return head;
}

TreeCache decode_cache_file(ByteView file, const HssKeyFile& key, const std::string& name) {
  const LmsPair& top = key.params.levels.front();
  const auto damaged = [&](const std::string& why) { fail(Errc::bad_data, name + ": " + why); };
  const CacheHead head = decode_cache_head(file, name);
  if (head.pair.lms != top.lms || head.pair.ots != top.ots) damaged("a cache of other parameters");
  if (head.depth != key.cache_depth) damaged("a cache of another depth");
  if (head.id != key.id || head.identifier != key.top.identifier) {
    damaged("the cache of another key");
  }
  TreeCache cache(0, top.lms->h, key.cache_depth, top.lms->m);
  std::ranges::copy(file.subspan(kCacheHead, cache.bytes().size()), cache.bytes().begin());
  if (!equal(cache.root(), ByteView(key.root).first(top.lms->m))) {
    damaged("its root is not the root of the key");
  }
  return cache;
}

KeyPaths KeyPaths::in(const std::filesystem::path& folder, const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos ||
      name.find('\0') != name.npos) {
    fail(Errc::usage, "key name '" + name + "' is not a file name; give the folder with --out");
  }
  return {folder / (name + ".key"), folder / (name + ".pub"), folder / (name + ".cache"),
          folder / (name + ".state"), folder / (name + ".progress")};
}

KeyPaths KeyPaths::of_key(const std::filesystem::path& key_file) {
  if (key_file.extension() != ".key") {
    fail(Errc::usage,
         "'" + key_file.string() +
             "': the name of a private key ends in .key; its companions NAME.cache and "
             "NAME.state are looked for beside it");
  }
  return in(key_file.parent_path(), key_file.stem().string());
}

Bytes encode_public_key(const HssPublicKey& key, PublicForm form) {
  Bytes raw = key.encode();
  if (form == PublicForm::raw) return raw;
  Bytes der = encode_hss_spki(raw, SpkiForm::raw);
  if (form == PublicForm::der) return der;
  const std::string pem = pem_encode(kPemLabel, der);
  const ByteView text = as_bytes(pem);
  return {text.begin(), text.end()};
}

HssPublicKey decode_public_key(ByteView file, const std::string& name) {
  constexpr std::uint8_t kDerSequence = 0x30;
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  text.remove_prefix(std::min(text.find_first_not_of("\r\n\t "), text.size()));
  const std::string begin = "-----BEGIN " + std::string(kPemLabel) + "-----";
  try {
    Bytes raw;
    if (!file.empty() && file[0] == 0) {
      raw.assign(file.begin(), file.end());  // the first byte of u32 L
    } else if (!file.empty() && file[0] == kDerSequence) {
      raw = decode_hss_spki(file);
    } else if (text.starts_with(begin)) {
      // One block and nothing else, or it would be open which key the file stands for.
      const std::string end = "-----END " + std::string(kPemLabel) + "-----";
      const std::size_t after = text.find(end);
      if (after != text.npos &&
          text.find_first_not_of("\r\n\t ", after + end.size()) != text.npos) {
        fail(Errc::bad_data, "text after the end of the PEM block");
      }
      raw = decode_hss_spki(pem_decode(kPemLabel, text));
    } else {
      fail(Errc::bad_data, "not an HSS public key (raw, PEM or DER) but " + describe(file));
    }
    HssPublicKey key;
    if (const Verdict v = parse_hss_public_key(raw, key); !v.valid()) {
      LmsPublicKey bare;
      std::size_t used = 0;
      const bool is_lms = parse_lms_public_key(raw, bare, used).valid() && used == raw.size();
      fail(Errc::bad_data,
           is_lms ? "an LMS public key without the level count of HSS (00000001) in front"
                  : v.detail);
    }
    return key;
  } catch (const Error& e) {
    throw Error(e.code(), name + ": " + e.what());
  }
}

}  // namespace coppice
