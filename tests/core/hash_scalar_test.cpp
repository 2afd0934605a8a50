// Known answers of the scalar hashes (FIPS 180-4, FIPS 202, RFC 4231) and a differential with
// OpenSSL.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "core/base/bytes.hpp"
#include "core/hash/hasher.hpp"

#ifdef COPPICE_HAVE_OPENSSL
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif

namespace coppice {
namespace {

std::string to_hex(ByteView bytes) {
  std::string s;
  for (const std::uint8_t b : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    s += digits[b >> 4];
    s += digits[b & 15];
  }
  return s;
}

std::string hash_hex(HashId id, ByteView data, std::size_t n) {
  Bytes out(n);
  Hasher(id).update(data).final(out);
  return to_hex(out);
}

std::string hmac_hex(ByteView key, ByteView data) {
  Bytes out(32);
  hmac_sha256(key, data, out);
  return to_hex(out);
}

std::string hmac512_hex(ByteView key, ByteView data) {
  Bytes out(64);
  hmac_sha512(key, data, out);
  return to_hex(out);
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hash_hex(HashId::sha256, {}, 32),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_hex(HashId::sha256, as_bytes("abc"), 32),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_hex(HashId::sha256,
                     as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 32),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_hex(HashId::sha256, Bytes(1000000, 'a'), 32),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TruncatesToTheLengthAsked) {
  EXPECT_EQ(hash_hex(HashId::sha256, as_bytes("abc"), 24),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9c");
}

TEST(Sha512, KnownAnswers) {
  EXPECT_EQ(hash_hex(HashId::sha512, {}, 64),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
  EXPECT_EQ(hash_hex(HashId::sha512, as_bytes("abc"), 64),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  EXPECT_EQ(hash_hex(HashId::sha512, Bytes(1000000, 'a'), 64),
            "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
            "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b");
  EXPECT_EQ(hash_hex(HashId::sha512, as_bytes("abc"), 24),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2");
}

TEST(Shake256, KnownAnswers) {
  EXPECT_EQ(hash_hex(HashId::shake256, {}, 64),
            "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"
            "d75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be");
  // FIPS 202 example file: message of 200 bytes 0xa3, first 32 bytes of the output.
  EXPECT_EQ(hash_hex(HashId::shake256, Bytes(200, 0xa3), 32),
            "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d");
}

TEST(HmacSha256, Rfc4231) {
  EXPECT_EQ(hmac_hex(Bytes(20, 0x0b), as_bytes("Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_hex(as_bytes("Jefe"), as_bytes("what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_hex(Bytes(131, 0xaa),
                     as_bytes("Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha512, Rfc4231) {
  EXPECT_EQ(hmac512_hex(Bytes(20, 0x0b), as_bytes("Hi There")),
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
            "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854");
  EXPECT_EQ(hmac512_hex(Bytes(131, 0xaa),
                        as_bytes("Test Using Larger Than Block-Size Key - Hash Key First")),
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
            "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598");
}

TEST(Hasher, AnySplitOfTheInputGivesTheSameDigest) {
  std::mt19937_64 random(1);
  for (const HashId id : {HashId::sha256, HashId::shake256, HashId::sha512}) {
    for (std::size_t length = 0; length <= 300; ++length) {
      Bytes data(length);
      for (auto& b : data) b = static_cast<std::uint8_t>(random());
      Hasher h(id);
      for (std::size_t at = 0; at < length;) {
        const std::size_t part = std::min<std::size_t>(1 + random() % 90, length - at);
        h.update(ByteView(data).subspan(at, part));
        at += part;
      }
      Bytes out(32);
      h.final(out);
      ASSERT_EQ(to_hex(out), hash_hex(id, data, 32)) << hash_name(id) << " length " << length;
    }
  }
}

#ifdef COPPICE_HAVE_OPENSSL
TEST(Hasher, AgreesWithOpenSsl) {
  std::mt19937_64 random(2);
  for (std::size_t length = 0; length <= 600; ++length) {
    Bytes data(length);
    for (auto& b : data) b = static_cast<std::uint8_t>(random());

    Bytes theirs(32);
    ASSERT_EQ(EVP_Digest(data.data(), length, theirs.data(), nullptr, EVP_sha256(), nullptr), 1);
    ASSERT_EQ(hash_hex(HashId::sha256, data, 32), to_hex(theirs)) << "length " << length;

    Bytes longer(200);
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(EVP_DigestInit_ex(context, EVP_shake256(), nullptr), 1);
    EXPECT_EQ(EVP_DigestUpdate(context, data.data(), length), 1);
    EXPECT_EQ(EVP_DigestFinalXOF(context, longer.data(), longer.size()), 1);
    EVP_MD_CTX_free(context);
    ASSERT_EQ(hash_hex(HashId::shake256, data, longer.size()), to_hex(longer))
        << "length " << length;

    const Bytes key(length / 3 + 1, 0x5a);  // OpenSSL takes no null pointer
    ASSERT_NE(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data.data(), length,
                   theirs.data(), nullptr),
              nullptr);
    ASSERT_EQ(hmac_hex(key, data), to_hex(theirs)) << "length " << length;

    Bytes wide(64);
    ASSERT_EQ(EVP_Digest(data.data(), length, wide.data(), nullptr, EVP_sha512(), nullptr), 1);
    ASSERT_EQ(hash_hex(HashId::sha512, data, 64), to_hex(wide)) << "length " << length;
    ASSERT_NE(HMAC(EVP_sha512(), key.data(), static_cast<int>(key.size()), data.data(), length,
                   wide.data(), nullptr),
              nullptr);
    ASSERT_EQ(hmac512_hex(key, data), to_hex(wide)) << "length " << length;
  }
}
#endif

}  // namespace
}  // namespace coppice
