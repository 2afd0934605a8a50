// SubjectPublicKeyInfo and PEM: exact bytes of both forms, round trips, malformed inputs.
#include "core/encode/spki.hpp"

#include <gtest/gtest.h>

#include "core/encode/hex.hpp"
#include "tests/core/core_support.hpp"

namespace coppice {
namespace {

using test::expect_error;
using test::Random;
using test::random_bytes;

Bytes key_of(std::size_t bytes) {
  Bytes key(bytes);
  for (std::size_t i = 0; i < bytes; ++i) key[i] = static_cast<std::uint8_t>(i);
  store_be32(key.data(), 1);
  return key;
}

constexpr const char* kOid = "300d060b2a864886f70d0109100311";

TEST(Spki, BytesOfBothForms) {
  const std::string wide = to_hex(key_of(60));
  EXPECT_EQ(to_hex(encode_hss_spki(key_of(60), SpkiForm::raw)),
            "304e" + (kOid + ("033d00" + wide)));
  EXPECT_EQ(to_hex(encode_hss_spki(key_of(60), SpkiForm::wrapped)),
            "3050" + (kOid + ("033f00043c" + wide)));
  const std::string narrow = to_hex(key_of(52));
  EXPECT_EQ(to_hex(encode_hss_spki(key_of(52), SpkiForm::raw)),
            "3046" + (kOid + ("033500" + narrow)));
  EXPECT_EQ(to_hex(encode_hss_spki(key_of(52), SpkiForm::wrapped)),
            "3048" + (kOid + ("0337000434" + narrow)));
}

TEST(Spki, RoundTripsInBothForms) {
  for (const std::size_t bytes : {std::size_t{52}, std::size_t{60}}) {
    for (const SpkiForm form : {SpkiForm::raw, SpkiForm::wrapped}) {
      EXPECT_EQ(decode_hss_spki(encode_hss_spki(key_of(bytes), form)), key_of(bytes));
    }
  }
}

TEST(Spki, RefusesOverlongKeys) {
  expect_error(Errc::internal, "too long",
               [] { (void)encode_hss_spki(key_of(200), SpkiForm::raw); });
}

class SpkiForms : public testing::TestWithParam<SpkiForm> {};

TEST_P(SpkiForms, EveryCutExtensionAndStructuralByteIsRefused) {
  const Bytes good = encode_hss_spki(key_of(60), GetParam());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_THROW((void)decode_hss_spki(ByteView(good).first(length)), Error) << length;
  }
  Bytes longer = good;
  longer.push_back(0);
  expect_error(Errc::bad_data, "left over", [&] { (void)decode_hss_spki(longer); });
  const std::size_t head = good.size() - 60;
  for (std::size_t at = 0; at < head; ++at) {
    for (const unsigned flip : {0x01U, 0x20U, 0x80U}) {
      Bytes bad = good;
      bad[at] = static_cast<std::uint8_t>(bad[at] ^ flip);
      // A raw form cannot be mistaken for a wrapped one, so every structural byte counts. What may
      // still decode must not decode to the same key.
      try {
        EXPECT_NE(decode_hss_spki(bad), key_of(60)) << "byte " << at;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::bad_data) << e.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, SpkiForms, testing::Values(SpkiForm::raw, SpkiForm::wrapped));

TEST(Spki, NamesWhatIsWrong) {
  const Bytes good = encode_hss_spki(key_of(60), SpkiForm::raw);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bad = good;
    bad[at] = value;
    return bad;
  };
  expect_error(Errc::bad_data, "SEQUENCE expected at byte 0",
               [&] { (void)decode_hss_spki(with(0, 0x31)); });
  expect_error(Errc::bad_data, "SEQUENCE", [&] { (void)decode_hss_spki(with(1, 0x80)); });
  expect_error(Errc::bad_data, "another algorithm", [&] { (void)decode_hss_spki(with(16, 0x12)); });
  expect_error(Errc::bad_data, "BIT STRING expected",
               [&] { (void)decode_hss_spki(with(17, 0x04)); });
  expect_error(Errc::bad_data, "unused bits", [&] { (void)decode_hss_spki(with(19, 1)); });
  expect_error(Errc::bad_data, "too short", [] { (void)decode_hss_spki({}); });
  // An Ed25519 key (RFC 8410).
  expect_error(Errc::bad_data, "another algorithm", [] {
    (void)decode_hss_spki(from_hex(
        "302a300506032b6570032100ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "x"));
  });
}

TEST(Spki, RandomBytesNeverCrash) {
  Random random(40);
  const Bytes good = encode_hss_spki(key_of(60), SpkiForm::wrapped);
  for (int i = 0; i < 20000; ++i) {
    Bytes data = i % 2 == 0 ? random_bytes(random, test::pick(random, 90)) : good;
    for (std::size_t k = 0; i % 2 == 1 && k < 3; ++k) {
      data[test::pick(random, data.size())] = static_cast<std::uint8_t>(random());
    }
    try {
      (void)decode_hss_spki(data);
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), Errc::bad_data);
    }
  }
}

TEST(Pem, RoundTripsEveryLengthInLinesOf64) {
  Random random(41);
  for (std::size_t length = 0; length < 200; ++length) {
    const Bytes data = random_bytes(random, length);
    const std::string text = pem_encode("PUBLIC KEY", data);
    EXPECT_TRUE(text.starts_with("-----BEGIN PUBLIC KEY-----\n"));
    EXPECT_TRUE(text.ends_with("-----END PUBLIC KEY-----\n"));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 64U);
      at = end + 1;
    }
    EXPECT_EQ(pem_decode("PUBLIC KEY", text), data) << length;
  }
  EXPECT_EQ(pem_encode("X", as_bytes("foobar")), "-----BEGIN X-----\nZm9vYmFy\n-----END X-----\n");
  EXPECT_EQ(pem_encode("X", as_bytes("fooba")), "-----BEGIN X-----\nZm9vYmE=\n-----END X-----\n");
  EXPECT_EQ(pem_encode("X", as_bytes("foob")), "-----BEGIN X-----\nZm9vYg==\n-----END X-----\n");
}

TEST(Pem, FindsItsBlockAmongOthersAndAcceptsWindowsLines) {
  const std::string text =
      "text before\n" + pem_encode("CERTIFICATE", as_bytes("no")) +
      "-----BEGIN PUBLIC KEY-----\r\nZm9v\r\n-----END PUBLIC KEY-----\r\nafter";
  EXPECT_TRUE(equal(pem_decode("PUBLIC KEY", text), as_bytes("foo")));
  EXPECT_TRUE(equal(pem_decode("CERTIFICATE", text), as_bytes("no")));
  expect_error(Errc::bad_data, "no '-----BEGIN PRIVATE KEY-----' block",
               [&] { (void)pem_decode("PRIVATE KEY", text); });
}

TEST(Pem, RefusesDamagedBase64) {
  const auto decode = [](const std::string& body) {
    return pem_decode("X", "-----BEGIN X-----\n" + body + "\n-----END X-----\n");
  };
  EXPECT_TRUE(decode("").empty());
  for (const char* bad :
       {"Zm9*", "Z=9v", "=m9v", "Zm=v", "Zg==Zg==", "Zg==Zm9v", "Zm9v====", "Zg==="}) {
    expect_error(Errc::bad_data, "", [&] { (void)decode(bad); });
  }
  expect_error(Errc::bad_data, "cut off", [&] { (void)decode("Zm9vZ"); });
  expect_error(Errc::bad_data, "cut off", [&] { (void)decode("Zm9vZg="); });
  expect_error(Errc::bad_data, "no '-----BEGIN X-----' block",
               [] { (void)pem_decode("X", "-----BEGIN X-----\nZm9v\n"); });
  expect_error(Errc::bad_data, "block", [] { (void)pem_decode("X", ""); });
}

}  // namespace
}  // namespace coppice
