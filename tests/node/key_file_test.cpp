// Key files: exact layouts, and no damaged byte gets in.
#include "node/key_file.hpp"

#include <algorithm>
#include <functional>

#include "core/encode/hex.hpp"
#include "core/encode/spki.hpp"
#include "core/hash/sha256.hpp"
#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;

constexpr std::size_t kKeyBytes = 232;

HssKeyFile make_key(const char* params = "5/8", bool complete = true) {
  HssKeyFile key;
  key.complete = complete;
  key.created = 1'700'000'000;
  key.cache_depth = 3;
  key.params = parse_hss_params(params);
  for (std::size_t i = 0; i < key.id.size(); ++i) key.id[i] = static_cast<std::uint8_t>(0xa0 + i);
  for (std::size_t i = 0; i < kIdentifierBytes; ++i) {
    key.top.identifier[i] = static_cast<std::uint8_t>(0x10 + i);
  }
  key.top.seed_bytes = key.params.levels.front().lms->m;
  for (std::size_t i = 0; i < key.top.seed_bytes; ++i) {
    key.top.seed.writable()[i] = static_cast<std::uint8_t>(0x30 + i);
  }
  if (complete) {
    const auto m = static_cast<std::ptrdiff_t>(key.params.levels.front().lms->m);
    std::fill(key.root.begin(), key.root.begin() + m, std::uint8_t{0x77});
  }
  return key;
}

Bytes bytes_of(const HssKeyFile& key) {
  const WipedBytes file = encode_key_file(key);
  return {file.view().begin(), file.view().end()};
}

// Changes a file and makes its checksum right again: what is left is the check of the fields.
Bytes resealed(Bytes file, const std::function<void(Bytes&)>& change) {
  change(file);
  Sha256 hash;
  hash.update(ByteView(file).first(file.size() - 32));
  hash.final(ByteSpan(file).last(32));
  return file;
}

std::string refused(ByteView file) {
  const std::string what =
      error_of(Errc::bad_data, [&] { (void)decode_key_file(file, "dir/NAME.key"); });
  EXPECT_TRUE(what.starts_with("dir/NAME.key: ")) << what;
  return what;
}

TEST(KeyFile, RoundTrip) {
  for (const char* params : {"5/8", "10/4,5/8", "25/1,25/2,25/4,25/8,5/1,5/2,5/4,5/8"}) {
    for (const bool complete : {true, false}) {
      HssKeyFile key = make_key(params, complete);
      key.insecure_seed = !complete;
      key.child_seeds = complete ? ChildSeeds::independent : ChildSeeds::derived;
      const HssKeyFile back = decode_key_file(bytes_of(key), "k");
      EXPECT_EQ(back.complete, complete);
      EXPECT_EQ(back.insecure_seed, key.insecure_seed);
      EXPECT_EQ(back.child_seeds, key.child_seeds);
      EXPECT_EQ(back.cache_depth, key.cache_depth);
      EXPECT_EQ(back.created, key.created);
      EXPECT_EQ(back.id, key.id);
      EXPECT_EQ(back.params, key.params);
      EXPECT_EQ(back.top.identifier, key.top.identifier);
      EXPECT_TRUE(equal(back.top.seed_view(), key.top.seed_view()));
      EXPECT_EQ(back.root, key.root);
      EXPECT_EQ(bytes_of(back), bytes_of(key));
    }
  }
}

TEST(KeyFile, SeedOf32BytesWithNodesOf24) {
  HssKeyFile key = make_key();
  key.params = parse_hss_params("5/8", "shake256-192");
  std::fill(key.root.begin() + 24, key.root.end(), std::uint8_t{0});
  key.top.seed_bytes = 32;
  EXPECT_EQ(decode_key_file(bytes_of(key), "k").top.seed_bytes, 32U);
  key.top.seed_bytes = 24;
  error_of(Errc::internal, [&] { (void)encode_key_file(key); });  // 8 bytes of it would get lost
  std::ranges::fill(key.top.seed.writable().subspan(24), std::uint8_t{0});
  EXPECT_EQ(decode_key_file(bytes_of(key), "k").top.seed_bytes, 24U);
}

// The layout of docs/formats.md, byte by byte.
TEST(KeyFile, GoldenBytes) {
  HssKeyFile key = make_key("10/4,5/8");
  key.insecure_seed = true;
  key.child_seeds = ChildSeeds::independent;
  const Bytes file = bytes_of(key);
  ASSERT_EQ(file.size(), kKeyBytes);
  EXPECT_EQ(to_hex(ByteView(file).first(52)),
            "434f50504943454b"  // COPPICEK
            "00000001"
            "00000003"
            "00000001"
            "00000003"
            "000000006553f100"
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "00000002");
  EXPECT_EQ(to_hex(ByteView(file).subspan(52, 64)),
            "00000006"
            "00000003"
            "00000005"
            "00000004" +
                std::string(96, '0'));
  EXPECT_EQ(to_hex(ByteView(file).subspan(116, 20)),
            "101112131415161718191a1b1c1d1e1f"
            "00000020");
  EXPECT_EQ(file[136], 0x30);
  EXPECT_EQ(file[168], 0x77);
}

TEST(KeyFile, EveryChangedByteIsFound) {
  for (const bool complete : {true, false}) {
    const Bytes good = bytes_of(make_key("10/4,5/8", complete));
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (unsigned change = 1; change < 256; ++change) {
        Bytes bad = good;
        bad[i] = static_cast<std::uint8_t>(bad[i] ^ change);
        EXPECT_THROW((void)decode_key_file(bad, "k"), Error) << "byte " << i << " ^ " << change;
      }
    }
  }
}

TEST(KeyFile, EveryOtherLengthIsRefused) {
  const Bytes good = bytes_of(make_key());
  for (std::size_t size = 0; size < good.size(); ++size) refused(ByteView(good).first(size));
  Bytes longer = good;
  for (int i = 0; i < 40; ++i) {
    longer.push_back(0);
    refused(longer);
  }
}

TEST(KeyFile, FieldsAreCheckedBehindTheChecksum) {
  const Bytes good = bytes_of(make_key("10/4,5/8"));
  const auto with = [&](std::size_t at, std::uint32_t value) {
    return refused(resealed(good, [&](Bytes& f) { store_be32(f.data() + at, value); }));
  };
  EXPECT_TRUE(contains(with(8, 2), "version 2 is unknown"));
  EXPECT_TRUE(contains(with(12, 5), "unknown flags"));
  EXPECT_TRUE(contains(with(12, 0x80000001), "unknown flags"));
  EXPECT_TRUE(contains(with(12, 0), "generating and has a root"));
  EXPECT_TRUE(contains(with(16, 2), "child seeds"));
  EXPECT_TRUE(contains(with(20, 11), "cache depth 11"));
  EXPECT_TRUE(contains(with(48, 0), "0 levels"));
  EXPECT_TRUE(contains(with(48, 9), "9 levels"));
  EXPECT_TRUE(contains(with(48, 1), "beyond its last level"));
  EXPECT_TRUE(contains(with(48, 3), "level 2: unknown LMS type 0"));
  EXPECT_TRUE(contains(with(52, 99), "level 0: unknown LMS type 99"));
  EXPECT_TRUE(contains(with(56, 99), "unknown LM-OTS type 99"));
  // 24-byte LMS type: against its own LM-OTS type, and as a whole level against the other one.
  const HssParams small = parse_hss_params("5/8", "sha256-192");
  EXPECT_TRUE(contains(with(60, small.levels[0].lms->type), "different hashes"));
  EXPECT_TRUE(contains(refused(resealed(good,
                                        [&](Bytes& f) {
                                          store_be32(f.data() + 60, small.levels[0].lms->type);
                                          store_be32(f.data() + 64, small.levels[0].ots->type);
                                        })),
                       "mix hashes"));
  EXPECT_TRUE(contains(with(112, 1), "beyond its last level"));
  for (const std::uint32_t seed_bytes : {0U, 16U, 24U, 31U, 33U, 0xffffffffU}) {
    EXPECT_TRUE(contains(with(132, seed_bytes), "SEED has "));
  }
  EXPECT_TRUE(
      contains(refused(resealed(good, [](Bytes& f) { std::fill_n(f.begin() + 168, 32, 0); })),
               "complete and has no root"));
}

TEST(KeyFile, SaysWhatAWrongFileIs) {
  EXPECT_TRUE(contains(refused({}), "an empty file"));
  EXPECT_TRUE(contains(refused(as_bytes("-----BEGIN PRIVATE KEY-----\nAA==\n")),
                       "PEM text '-----BEGIN PRIVATE KEY-----'"));
  EXPECT_TRUE(contains(refused(as_bytes("SQLite format 3")), "SQLite"));
  EXPECT_TRUE(contains(refused(Bytes(64, 0xab)), "64 bytes starting with 0xabababababababab"));
}

TEST(KeyFile, NothingUnreadableIsWritten) {
  HssKeyFile key = make_key();
  key.cache_depth = 6;
  error_of(Errc::internal, [&] { (void)encode_key_file(key); });
  key = make_key();
  key.top.seed_bytes = 16;
  error_of(Errc::internal, [&] { (void)encode_key_file(key); });
  key = make_key();
  key.params.levels.clear();
  error_of(Errc::internal, [&] { (void)encode_key_file(key); });
}

TEST(KeyFile, NoPublicKeyOfAKeyThatIsGenerating) {
  error_of(Errc::unavailable, [] { (void)make_key("5/8", false).public_key(); });
  const HssKeyFile key = make_key("10/4,5/8");
  const HssPublicKey pub = key.public_key();
  EXPECT_EQ(pub.levels, 2U);
  EXPECT_EQ(pub.top.pair, key.params.levels[0]);
  EXPECT_EQ(pub.top.identifier, key.top.identifier);
}

TreeCache make_cache(const HssKeyFile& key) {
  const LmsParams& lms = *key.params.levels.front().lms;
  TreeCache cache(0, lms.h, key.cache_depth, lms.m);
  std::uint8_t next = 0;
  for (std::uint8_t& byte : cache.bytes()) byte = next++;
  std::copy_n(key.root.begin(), lms.m, cache.bytes().begin());
  return cache;
}

TEST(CacheFile, RoundTripForEveryDepth) {
  for (std::uint32_t depth = 0; depth <= 5; ++depth) {
    HssKeyFile key = make_key();
    key.cache_depth = depth;
    const TreeCache cache = make_cache(key);
    const Bytes file = encode_cache_file(key, cache);
    EXPECT_EQ(file.size(), 64 + ((std::size_t{2} << depth) - 1) * 32 + 32);
    const TreeCache back = decode_cache_file(file, key, "c");
    EXPECT_TRUE(equal(back.bytes(), cache.bytes()));
    EXPECT_EQ(back.depth(), depth);
    EXPECT_EQ(back.tree_height(), 5U);
    const CacheHead head = decode_cache_head(file, "c");
    EXPECT_EQ(head.depth, depth);
    EXPECT_EQ(head.pair.lms, key.params.levels.front().lms);
    EXPECT_EQ(head.id, key.id);
    EXPECT_EQ(head.identifier, key.top.identifier);
  }
}

TEST(CacheFile, EveryChangedByteAndLengthIsFound) {
  const HssKeyFile key = make_key();
  const Bytes good = encode_cache_file(key, make_cache(key));
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const unsigned change : {1U, 0x80U, 0xffU}) {
      Bytes bad = good;
      bad[i] = static_cast<std::uint8_t>(bad[i] ^ change);
      EXPECT_TRUE(error_of(Errc::bad_data, [&] {
                    (void)decode_cache_file(bad, key, "c");
                  }).starts_with("c: "));
    }
    error_of(Errc::bad_data, [&] { (void)decode_cache_file(ByteView(good).first(i), key, "c"); });
  }
  Bytes longer = good;
  longer.push_back(0);
  error_of(Errc::bad_data, [&] { (void)decode_cache_file(longer, key, "c"); });
}

TEST(CacheFile, MustBelongToTheKey) {
  const HssKeyFile key = make_key();
  const Bytes good = encode_cache_file(key, make_cache(key));
  const auto refused_for = [&](const HssKeyFile& other) {
    return error_of(Errc::bad_data, [&] { (void)decode_cache_file(good, other, "c"); });
  };
  HssKeyFile other = make_key();
  other.id[0] = 0;
  EXPECT_TRUE(contains(refused_for(other), "another key"));
  other = make_key();
  other.top.identifier[0] = 0;
  EXPECT_TRUE(contains(refused_for(other), "another key"));
  other = make_key();
  other.root[0] = 0;
  EXPECT_TRUE(contains(refused_for(other), "root"));
  EXPECT_TRUE(contains(refused_for(make_key("10/8")), "other parameters"));
  EXPECT_TRUE(contains(refused_for(make_key("5/4")), "other parameters"));
  other = make_key();
  other.cache_depth = 2;
  (void)refused_for(other);
  other = make_key("5/8", false);
  EXPECT_TRUE(contains(refused_for(other), "root"));
  // Sizes that the file claims: rejected before anything is allocated for them.
  const Bytes huge = resealed(good, [](Bytes& f) { store_be64(f.data() + 24, ~std::uint64_t{0}); });
  EXPECT_TRUE(contains(error_of(Errc::bad_data, [&] { (void)decode_cache_file(huge, key, "c"); }),
                       "another depth"));
  error_of(Errc::internal, [&] { (void)encode_cache_file(other, make_cache(key)); });
}

TEST(KeyPaths, Companions) {
  const KeyPaths paths = KeyPaths::in("out", "ca");
  EXPECT_EQ(paths.key, "out/ca.key");
  EXPECT_EQ(paths.pub, "out/ca.pub");
  EXPECT_EQ(paths.cache, "out/ca.cache");
  EXPECT_EQ(paths.state, "out/ca.state");
  EXPECT_EQ(KeyPaths::of_key("out/ca.v2.key").state, "out/ca.v2.state");
  EXPECT_EQ(KeyPaths::of_key("ca.key").cache, "ca.cache");
  for (const char* name : {"", ".", "..", "a/b", "/a"}) {
    error_of(Errc::usage, [&] { (void)KeyPaths::in("out", name); });
  }
  for (const char* name : {"ca", "ca.pub", "out/.key", "out/"}) {
    error_of(Errc::usage, [&] { (void)KeyPaths::of_key(name); });
  }
}

TEST(PublicKey, ThreeForms) {
  const HssPublicKey pub = make_key("10/4,5/8").public_key();
  for (const PublicForm form : {PublicForm::raw, PublicForm::pem, PublicForm::der}) {
    EXPECT_EQ(decode_public_key(encode_public_key(pub, form), "p"), pub);
  }
  EXPECT_EQ(encode_public_key(pub, PublicForm::raw), pub.encode());
  const Bytes pem = encode_public_key(pub, PublicForm::pem);
  const std::string text(pem.begin(), pem.end());
  EXPECT_TRUE(text.starts_with("-----BEGIN PUBLIC KEY-----\n"));
  EXPECT_EQ(decode_public_key(as_bytes("\r\n " + text + "\n"), "p"), pub);
}

TEST(PublicKey, RefusesEverythingElse) {
  const HssPublicKey pub = make_key().public_key();
  const auto why = [](ByteView file) {
    const std::string what =
        error_of(Errc::bad_data, [&] { (void)decode_public_key(file, "dir/p"); });
    EXPECT_TRUE(what.starts_with("dir/p: ")) << what;
    return what;
  };
  const Bytes raw = encode_public_key(pub, PublicForm::raw);
  const Bytes der = encode_public_key(pub, PublicForm::der);
  const Bytes pem = encode_public_key(pub, PublicForm::pem);
  for (const Bytes& good : {raw, der}) {
    for (std::size_t size = 0; size < good.size(); ++size) (void)why(ByteView(good).first(size));
    Bytes longer = good;
    longer.push_back(0);
    (void)why(longer);
  }
  for (std::size_t size = 0; size + 1 < pem.size(); ++size) (void)why(ByteView(pem).first(size));
  Bytes two = pem;
  append(two, pem);
  EXPECT_TRUE(contains(why(two), "after the end"));
  EXPECT_TRUE(contains(why(pub.top.encode()), "an LMS public key without the level count"));
  EXPECT_TRUE(contains(why(bytes_of(make_key())), "a private key of Coppice"));
  EXPECT_TRUE(contains(why(as_bytes("-----BEGIN CERTIFICATE-----\n")), "BEGIN CERTIFICATE"));
  EXPECT_TRUE(contains(why({}), "an empty file"));
  Bytes levels = raw;
  levels[3] = 9;
  EXPECT_TRUE(contains(why(levels), "9 levels"));
}

}  // namespace
}  // namespace coppice
