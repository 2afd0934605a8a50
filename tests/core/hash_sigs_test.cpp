// Key files of hash-sigs: round trips, malformed files, exhaustion, rows and MAC of the aux file.
// (Files that the tool itself wrote are in tests/vectors/lms and run by coppice-kat.)
#include "core/encode/hash_sigs.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/encode/hex.hpp"
#include "core/hash/sha256.hpp"
#include "core/lms/hss.hpp"
#include "tests/core/core_support.hpp"

namespace coppice {
namespace {

using test::expect_error;
using test::Random;
using test::random_bytes;

constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();

HashSigsPrivateKey sample(std::string_view params, std::uint64_t next) {
  HashSigsPrivateKey key;
  key.params = parse_hss_params(params);
  key.next = next;
  key.top = test::secret_of(Bytes(32, 0xa1), Bytes(16, 0xb2));
  return key;
}

Bytes file_of(const HashSigsPrivateKey& key) {
  const WipedBytes file = encode_hash_sigs_private(key);
  return {file.view().begin(), file.view().end()};
}

TEST(HashSigsPrivate, LayoutAndRoundTrip) {
  const Bytes file = file_of(sample("15/4,10/8,5/1", 0x0102));
  EXPECT_EQ(to_hex(file),
            "0000000000000102"
            "736451ffffffffff" +
                to_hex(Bytes(32, 0xa1)) + to_hex(Bytes(16, 0xb2)));
  const HashSigsPrivateKey back = decode_hash_sigs_private(file);
  EXPECT_EQ(back.params, parse_hss_params("15/4,10/8,5/1"));
  EXPECT_EQ(back.next, 0x0102U);
  EXPECT_EQ(back.top.seed_bytes, 32U);
  EXPECT_TRUE(equal(back.top.seed_view(), Bytes(32, 0xa1)));
  EXPECT_TRUE(equal(back.top.identifier, Bytes(16, 0xb2)));
  EXPECT_EQ(file_of(back), file);
}

TEST(HashSigsPrivate, EverySetTheToolKnows) {
  for (const unsigned h : {5U, 10U, 15U, 20U, 25U}) {
    for (const unsigned w : {1U, 2U, 4U, 8U}) {
      const std::string name = std::to_string(h) + "/" + std::to_string(w);
      const Bytes file = file_of(sample(name, 1));
      EXPECT_EQ(decode_hash_sigs_private(file).params, parse_hss_params(name));
    }
  }
  EXPECT_EQ(decode_hash_sigs_private(file_of(sample("5/8,5/8,5/8,5/8,5/8,5/8,5/8,5/8", 1)))
                .params.levels.size(),
            8U);
}

TEST(HashSigsPrivate, ExhaustionIsAllOnes) {
  const Bytes spent = file_of(sample("5/8", 32));
  EXPECT_EQ(to_hex(ByteView(spent).first(8)), "ffffffffffffffff");
  const HashSigsPrivateKey back = decode_hash_sigs_private(spent);
  EXPECT_EQ(back.next, kAllOnes);
  EXPECT_EQ(file_of(back), spent);
  EXPECT_EQ(decode_hash_sigs_private(file_of(sample("5/8", 31))).next, 31U);
}

TEST(HashSigsPrivate, RefusesOtherLengths) {
  const Bytes good = file_of(sample("5/8", 0));
  for (const std::size_t length : {0U, 8U, 48U, 56U, 63U, 65U, 128U}) {
    Bytes bad = good;
    bad.resize(length);
    expect_error(Errc::bad_data, "64 are expected", [&] { (void)decode_hash_sigs_private(bad); });
  }
}

TEST(HashSigsPrivate, RefusesUnknownLevelsAndIndices) {
  const auto with_types = [](const char* types) {
    Bytes file = file_of(sample("5/8", 0));
    const Bytes codes = from_hex(types, "types");
    std::ranges::copy(codes, file.begin() + 8);
    return file;
  };
  expect_error(Errc::bad_data, "no levels",
               [&] { (void)decode_hash_sigs_private(with_types("ffffffffffffffff")); });
  expect_error(Errc::bad_data, "level 1: a level follows an unused one",
               [&] { (void)decode_hash_sigs_private(with_types("ff54ffffffffffff")); });
  expect_error(Errc::bad_data, "level 7: a level follows an unused one",
               [&] { (void)decode_hash_sigs_private(with_types("54ffffffffffff54")); });
  for (const char* types : {"44ffffffffffffff", "50ffffffffffffff", "55ffffffffffffff",
                            "5410ffffffffffff", "00ffffffffffffff"}) {
    expect_error(Errc::bad_data, "level ",
                 [&] { (void)decode_hash_sigs_private(with_types(types)); });
  }
  // Sets that exist but not in this tool's file: SHA-256/192, SHAKE.
  for (const char* types : {"a8ffffffffffffff", "fcffffffffffffff"}) {
    expect_error(Errc::bad_data, "level 0",
                 [&] { (void)decode_hash_sigs_private(with_types(types)); });
  }
  for (const std::uint64_t next : {std::uint64_t{32}, std::uint64_t{1} << 40, kAllOnes - 1}) {
    Bytes file = file_of(sample("5/8", 0));
    store_be64(file.data(), next);
    expect_error(Errc::bad_data, "index past its last",
                 [&] { (void)decode_hash_sigs_private(file); });
  }
}

TEST(HashSigsPrivate, RefusesToWriteSetsTheToolLacks) {
  for (const char* hash : {"sha256-192", "shake256", "shake256-192"}) {
    HashSigsPrivateKey key = sample("5/8", 0);
    key.params = parse_hss_params("5/8", hash);
    expect_error(Errc::usage, "hash-sigs cannot hold",
                 [&] { (void)encode_hash_sigs_private(key); });
  }
}

TEST(HashSigsPrivate, RandomFilesNeverCrash) {
  Random random(50);
  for (int i = 0; i < 20000; ++i) {
    Bytes file = random_bytes(random, 64);
    if (i % 2 == 0) std::fill_n(file.begin() + 8, 8, std::uint8_t{0xff});
    if (i % 2 == 0) file[8] = static_cast<std::uint8_t>(0x50 + random() % 8);
    try {
      const HashSigsPrivateKey key = decode_hash_sigs_private(file);
      EXPECT_EQ(file_of(key), file);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), Errc::bad_data) << e.what();
    }
  }
}

TEST(HashSigsAux, RowsByBudget) {
  const struct {
    unsigned h;
    std::size_t budget;
    unsigned deepest;
  } cases[] = {{10, 10916, 8}, {10, 10915, 6}, {10, 2724, 6},  {10, 2723, 4},    {10, 676, 4},
               {10, 164, 2},   {10, 163, 0},   {10, 0, 0},     {5, 10916, 3},    {5, 356, 3},
               {5, 355, 1},    {5, 100, 1},    {5, 99, 0},     {15, 10916, 7},   {15, 5476, 7},
               {15, 5475, 5},  {20, 10916, 8}, {25, 10916, 7}, {20, 1 << 30, 18}};
  for (const auto& c : cases) {
    const LmsPair pair = parse_hss_params(std::to_string(c.h) + "/8").levels[0];
    EXPECT_EQ(hash_sigs_aux_depth(pair, c.budget), c.deepest) << c.h << " " << c.budget;
  }
}

TEST(HashSigsAux, MarkerRowsAndMac) {
  const LmsPair pair = parse_hss_params("5/4").levels[0];
  const LmsTreeSecret secret = test::secret_of(Bytes(32, 0xa1), Bytes(16, 0xb2));
  SerialGrower grower(*kernels(HashId::sha256).front());
  const TreeCache cache = grower.grow(pair, secret, hash_sigs_aux_depth(pair, kHashSigsDefaultAux));
  const Bytes aux = encode_hash_sigs_aux(pair, secret, cache, kHashSigsDefaultAux);
  ASSERT_EQ(aux.size(), 356U);
  EXPECT_EQ(to_hex(ByteView(aux).first(4)), "8000000a");
  // Rows 1 and 3, left to right.
  EXPECT_TRUE(equal(ByteView(aux).subspan(4, 64), cache.bytes().subspan(32, 64)));
  EXPECT_TRUE(equal(ByteView(aux).subspan(68, 256), cache.bytes().subspan(7 * 32, 256)));
  // MAC = HMAC-SHA-256(SHA-256(20 zeros || fdfd || SEED), all before it), here from its definition.
  Bytes head(20, 0);
  append(head, Bytes{0xfd, 0xfd});
  append(head, secret.seed_view());
  Bytes key(32);
  Sha256 h;
  h.update(head);
  h.final(key);
  Bytes inner(64, 0x36);
  Bytes outer(64, 0x5c);
  for (std::size_t i = 0; i < 32; ++i) {
    inner[i] ^= key[i];
    outer[i] ^= key[i];
  }
  append(inner, ByteView(aux).first(324));
  Bytes digest(32);
  Sha256 in;
  in.update(inner);
  in.final(digest);
  append(outer, digest);
  Sha256 out;
  out.update(outer);
  out.final(digest);
  EXPECT_TRUE(equal(ByteView(aux).subspan(324), digest));
}

TEST(HashSigsAux, OneZeroByteWhenNothingFits) {
  const LmsPair pair = parse_hss_params("5/4").levels[0];
  const LmsTreeSecret secret = test::secret_of(Bytes(32, 1), Bytes(16, 2));
  const TreeCache cache(0, 5, 0, 32);
  EXPECT_EQ(encode_hash_sigs_aux(pair, secret, cache, 99), Bytes{0});
}

}  // namespace
}  // namespace coppice
