// HSS verification refuses every malformed input, with the proper reason and in the fixed order.
#include <gtest/gtest.h>

#include "tests/core/hss_support.hpp"

namespace coppice {
namespace {

using test::HssKey;
using test::Random;

// A valid two-level signature and where its parts are:
// Nspk | q ots lmsType path (level 0) | embedded key | q ots lmsType path (level 1).
class HssRejects : public testing::TestWithParam<const HashMany*> {
 protected:
  const HashMany& kernel() const { return *GetParam(); }

  void SetUp() override {
    Random random(30);
    const HssParams params = parse_hss_params("5/4,5/2", test::short_hash(kernel(), 24));
    key_.emplace(params, random, kernel());
    signature_ = key_->sign(3 * 32 + 9, message_);
    ASSERT_TRUE(key_->verify(message_, signature_).valid());
    at_[0] = 4;
    at_key_ = 4 + params.levels[0].signature_bytes();
    at_[1] = at_key_ + params.levels[1].public_key_bytes();
    for (std::size_t i = 0; i < 2; ++i) {
      at_lms_type_[i] = at_[i] + 4 + params.levels[i].ots->signature_bytes();
    }
  }
  Verdict verify(const Bytes& signature) const { return key_->verify(message_, signature); }
  Bytes with_u32(std::size_t at, std::uint32_t value) const {
    Bytes out = signature_;
    store_be32(&out[at], value);
    return out;
  }
  void expect(const Bytes& signature, Rejection why, unsigned level,
              const std::string& note) const {
    const Verdict v = verify(signature);
    EXPECT_EQ(v.rejection, why) << note << ": " << v.detail;
    EXPECT_EQ(v.level, level) << note << ": " << v.detail;
    EXPECT_FALSE(v.detail.empty()) << note;
  }

  std::optional<HssKey> key_;
  Bytes message_ = {'h', 's', 's'};
  Bytes signature_;
  std::size_t at_[2] = {};
  std::size_t at_lms_type_[2] = {};
  std::size_t at_key_ = 0;
};

TEST_P(HssRejects, CutAtEveryLength) {
  for (std::size_t length = 0; length < signature_.size(); ++length) {
    Bytes cut = signature_;
    cut.resize(length);
    const Verdict v = verify(cut);
    ASSERT_EQ(v.rejection, Rejection::too_short) << length;
    ASSERT_EQ(v.level, length < at_key_ ? 0U : 1U) << length;
  }
}

TEST_P(HssRejects, Extended) {
  for (const std::size_t more : {1U, 24U, 4096U}) {
    Bytes longer = signature_;
    append(longer, Bytes(more));
    expect(longer, Rejection::trailing_bytes, 1, std::to_string(more) + " more");
  }
}

TEST_P(HssRejects, LevelCounts) {
  for (const std::uint32_t nspk : {0U, 2U, 7U, 8U, 0xffffffffU}) {
    expect(with_u32(0, nspk), Rejection::levels, 0, "Nspk " + std::to_string(nspk));
  }
  for (const std::uint32_t levels : {0U, 9U, 0xffffffffU}) {
    HssPublicKey key = key_->key();
    key.levels = levels;
    EXPECT_EQ(hss_verify(key, message_, with_u32(0, levels - 1), kernel()).rejection,
              Rejection::levels);
    HssPublicKey parsed;
    EXPECT_EQ(parse_hss_public_key(key.encode(), parsed).rejection, Rejection::levels) << levels;
  }
}

TEST_P(HssRejects, LeafNumbers) {
  for (std::size_t i = 0; i < 2; ++i) {
    for (const std::uint32_t q : {32U, 0x80000003U, 0xffffffffU}) {
      expect(with_u32(at_[i], q), Rejection::leaf_out_of_range, static_cast<unsigned>(i), "q");
    }
    expect(with_u32(at_[i], 30), Rejection::root_mismatch, static_cast<unsigned>(i),
           "another leaf");
  }
}

TEST_P(HssRejects, TypesInSignatures) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto level = static_cast<unsigned>(i);
    const LmsPair& pair = key_->params().levels[i];
    for (std::uint32_t type = 0; type <= 17; ++type) {
      if (type == pair.ots->type) continue;
      expect(with_u32(at_[i] + 4, type), Rejection::ots_type_mismatch, level, "OTS type");
    }
    for (std::uint32_t type = 4; type <= 25; ++type) {
      if (type == pair.lms->type) continue;
      expect(with_u32(at_lms_type_[i], type), Rejection::lms_type_mismatch, level, "LMS type");
    }
  }
}

TEST_P(HssRejects, TypesInTheEmbeddedKey) {
  expect(with_u32(at_key_, 99), Rejection::unknown_type, 1, "unknown LMS type");
  expect(with_u32(at_key_ + 4, 99), Rejection::unknown_type, 1, "unknown LM-OTS type");
  const std::uint32_t wide = kernel().hash == HashId::sha256 ? 1 : 9;
  expect(with_u32(at_key_ + 4, wide), Rejection::unknown_type, 1, "types that do not pair");
  // Another known set: lengths follow from it, so its signature no longer fits.
  const std::uint32_t other = key_->params().levels[1].ots->type + 1;
  expect(with_u32(at_key_ + 4, other), Rejection::ots_type_mismatch, 1, "another known set");
}

TEST_P(HssRejects, EmbeddedKeyOfAnotherHash) {
  // A well formed signature whose lower level uses the other hash, at the same n.
  Bytes foreign = signature_;
  const bool sha = kernel().hash == HashId::sha256;
  const std::uint32_t lms = sha ? 20 : 10;
  const std::uint32_t ots = sha ? 14 : 6;
  store_be32(&foreign[at_key_], lms);
  store_be32(&foreign[at_key_ + 4], ots);
  store_be32(&foreign[at_[1] + 4], ots);
  store_be32(&foreign[at_lms_type_[1]], lms);
  expect(foreign, Rejection::unknown_type, 1, "another hash below");
}

TEST_P(HssRejects, ContentsOfEveryPart) {
  const struct {
    std::size_t at;
    unsigned level;
    const char* what;
  } parts[] = {
      {at_[0] + 8, 0, "C"},
      {at_[0] + 8 + 24, 0, "first y"},
      {at_lms_type_[0] - 1, 0, "last y"},
      {at_lms_type_[0] + 4, 0, "first path node"},
      {at_key_ - 1, 0, "last path node"},
      {at_key_ + 8, 0, "embedded I"},
      {at_key_ + 24, 0, "embedded root"},
      {at_[1] + 8, 1, "C"},
      {at_[1] + 8 + 24, 1, "first y"},
      {at_lms_type_[1] + 4, 1, "first path node"},
      {signature_.size() - 1, 1, "last path node"},
  };
  for (const auto& part : parts) {
    Bytes bad = signature_;
    bad[part.at] ^= 0x10;
    expect(bad, Rejection::root_mismatch, part.level, part.what);
  }
}

TEST_P(HssRejects, TheFirstFaultInTheOrderOfChecksIsNamed) {
  Bytes bad = signature_;
  bad.back() ^= 1;
  expect(bad, Rejection::root_mismatch, 1, "path");
  bad.push_back(0);
  expect(bad, Rejection::trailing_bytes, 1, "and a byte more");
  store_be32(&bad[at_[1]], 32);
  expect(bad, Rejection::leaf_out_of_range, 1, "and q");
  store_be32(&bad[at_lms_type_[1]], 77);
  expect(bad, Rejection::lms_type_mismatch, 1, "and the LMS type");
  bad.erase(bad.end() - 2, bad.end());
  expect(bad, Rejection::too_short, 1, "and one byte missing");
  store_be32(&bad[at_[1] + 4], 77);
  expect(bad, Rejection::ots_type_mismatch, 1, "and the LM-OTS type");
  store_be32(&bad[at_key_], 77);
  expect(bad, Rejection::unknown_type, 1, "and the embedded key");
  store_be32(&bad[at_[0]], 32);
  expect(bad, Rejection::leaf_out_of_range, 0, "and q of the level above");
  store_be32(bad.data(), 2);
  expect(bad, Rejection::levels, 0, "and the level count");
}

TEST_P(HssRejects, ReasonsNameTheLevel) {
  EXPECT_EQ(verify(with_u32(at_[0] + 4, 99)).reason(), "ots type mismatch");
  EXPECT_TRUE(verify(with_u32(at_[0] + 4, 99)).detail.starts_with("level 0: "));
  EXPECT_TRUE(verify(with_u32(at_[1], 99)).detail.starts_with("level 1: "));
  EXPECT_EQ(verify(with_u32(0, 0)).reason(), "levels");
}

TEST_P(HssRejects, NoFlippedByteVerifies) {
  // Every byte for the best kernel, a sample for the others.
  const bool all = &kernel() == kernels(kernel().hash).front();
  Random random(31);
  for (std::size_t at = 0; at < signature_.size(); at += all ? 1 : 1 + test::pick(random, 12)) {
    Bytes bad = signature_;
    bad[at] ^= static_cast<std::uint8_t>(1U << test::pick(random, 8));
    ASSERT_FALSE(verify(bad).valid()) << "byte " << at;
  }
}

TEST_P(HssRejects, SignaturesOfOtherMessagesAndKeys) {
  Random random(32);
  HssKey other(key_->params(), random, kernel());
  EXPECT_EQ(other.verify(message_, signature_).rejection, Rejection::root_mismatch);
  EXPECT_EQ(other.verify(message_, signature_).level, 0U);
  // The lower level of another signature under the upper level of this one.
  const Bytes second = key_->sign(4 * 32, message_);
  Bytes spliced = signature_;
  std::ranges::copy(ByteView(second).subspan(at_[1]),
                    spliced.begin() + static_cast<std::ptrdiff_t>(at_[1]));
  expect(spliced, Rejection::root_mismatch, 1, "spliced");
}

INSTANTIATE_TEST_SUITE_P(Kernels, HssRejects, testing::ValuesIn(test::every_kernel()),
                         test::kernel_test_name);

TEST(HssPublicKey, MalformedInputs) {
  Random random(33);
  HssKey sample(parse_hss_params("5/8"), random, *kernels(HashId::sha256).front());
  const Bytes good = sample.key().encode();
  HssPublicKey key;
  ASSERT_TRUE(parse_hss_public_key(good, key).valid());
  EXPECT_EQ(key, sample.key());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_EQ(parse_hss_public_key(ByteView(good).first(length), key).rejection,
              Rejection::too_short);
  }
  Bytes bad = good;
  bad.push_back(0);
  EXPECT_EQ(parse_hss_public_key(bad, key).rejection, Rejection::trailing_bytes);
  for (const std::uint32_t levels : {0U, 9U, 0x01000000U}) {
    bad = good;
    store_be32(bad.data(), levels);
    EXPECT_EQ(parse_hss_public_key(bad, key).rejection, Rejection::levels);
    bad.resize(4);
    EXPECT_EQ(parse_hss_public_key(bad, key).rejection, Rejection::levels);
  }
  bad = good;
  store_be32(&bad[4], 99);
  EXPECT_EQ(parse_hss_public_key(bad, key).rejection, Rejection::unknown_type);
}

}  // namespace
}  // namespace coppice
