// Fixed-width integers, the reader of untrusted input, hexadecimal text, narrowing conversions.
#include "core/base/bytes.hpp"

#include <gtest/gtest.h>

#include "core/base/checked_cast.hpp"
#include "core/encode/hex.hpp"
#include "tests/core/core_support.hpp"

namespace coppice {
namespace {

using test::expect_error;

TEST(Bytes, IntegersAreBigEndianAndRoundTrip) {
  std::uint8_t b[8];
  store_be16(b, 0x0102);
  EXPECT_EQ(to_hex(ByteView(b, 2)), "0102");
  EXPECT_EQ(load_be16(b), 0x0102);
  store_be32(b, 0x01020304);
  EXPECT_EQ(to_hex(ByteView(b, 4)), "01020304");
  EXPECT_EQ(load_be32(b), 0x01020304U);
  store_be64(b, 0x0102030405060708);
  EXPECT_EQ(to_hex(b), "0102030405060708");
  EXPECT_EQ(load_be64(b), 0x0102030405060708U);
  Bytes out;
  append_be32(out, 0xfffefdfc);
  append_be64(out, 1);
  append(out, as_bytes("ab"));
  EXPECT_EQ(to_hex(out), "fffefdfc00000000000000016162");
}

TEST(Bytes, EqualComparesLengthAndContent) {
  const Bytes a = {1, 2, 3};
  EXPECT_TRUE(equal(a, a));
  EXPECT_TRUE(equal({}, {}));
  EXPECT_FALSE(equal(a, ByteView(a).first(2)));
  EXPECT_FALSE(equal(a, Bytes{1, 2, 4}));
}

TEST(Reader, ReadsInOrderAndRefusesToPassTheEnd) {
  const Bytes data = from_hex("0000000700000000000000090102", "test");
  Reader r(data, "thing");
  EXPECT_EQ(r.u32(), 7U);
  EXPECT_EQ(r.u64(), 9U);
  EXPECT_EQ(r.position(), 12U);
  EXPECT_EQ(r.remaining(), 2U);
  expect_error(Errc::bad_data, "thing: 2 bytes left over", [&] { r.expect_end(); });
  expect_error(Errc::bad_data, "thing: too short, 4 bytes expected at byte 12, 2 are there",
               [&] { (void)r.u32(); });
  EXPECT_EQ(r.remaining(), 2U) << "a failed read moves nothing";
  EXPECT_TRUE(equal(r.take(2), Bytes{1, 2}));
  EXPECT_TRUE(r.take(0).empty());
  r.expect_end();
  expect_error(Errc::bad_data, "too short", [&] { (void)r.take(static_cast<std::size_t>(-1)); });
}

TEST(Hex, RoundTripsAndNamesItsMistakes) {
  EXPECT_EQ(to_hex(from_hex("00ffA5a5", "x")), "00ffa5a5");
  EXPECT_TRUE(from_hex("", "x").empty());
  expect_error(Errc::usage, "--seed: hexadecimal text has an odd number",
               [] { (void)from_hex("abc", "--seed"); });
  expect_error(Errc::usage, "--seed: not hexadecimal at digit 3",
               [] { (void)from_hex("ab 1", "--seed"); });
  expect_error(Errc::usage, "not hexadecimal", [] { (void)from_hex("0g", "x"); });
  expect_error(Errc::usage, "not hexadecimal", [] { (void)from_hex("0x12", "x"); });
}

TEST(CheckedCast, KeepsValuesAndRefusesLoss) {
  EXPECT_EQ(checked_cast<int>(std::size_t{2147483647}), 2147483647);
  EXPECT_EQ(checked_cast<std::uint8_t>(255), 255);
  expect_error(Errc::internal, "2147483648",
               [] { (void)checked_cast<int>(std::size_t{2147483648}); });
  expect_error(Errc::internal, "-1", [] { (void)checked_cast<std::size_t>(-1); });
}

TEST(Error, CarriesItsExitCode) {
  EXPECT_EQ(Error(Errc::bad_data, "x").exit_code(), 65);
  EXPECT_EQ(Error(Errc::interrupted, "x").exit_code(), 75);
  for (const Errc code : {Errc::answer_no, Errc::usage, Errc::config}) {
    EXPECT_LT(static_cast<int>(code), 128) << "mpirun passes only these on";
  }
}

}  // namespace
}  // namespace coppice
