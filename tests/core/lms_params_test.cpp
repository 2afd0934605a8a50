// Parameter rows, names and their parsing, sizes, and the arithmetic of indices over a hypertree.
#include "core/lms/lms_params.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "tests/core/core_support.hpp"

namespace coppice {
namespace {

using test::expect_error;

TEST(LmsParams, RowsAreCompleteAndFoundByTypecode) {
  ASSERT_EQ(all_lm_ots_params().size(), 16U);
  ASSERT_EQ(all_lms_params().size(), 20U);
  std::set<std::string_view> names;
  for (std::uint32_t type = 1; type <= 16; ++type) {
    const LmOtsParams* row = find_lm_ots(type);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->type, type);
    names.insert(row->name);
  }
  for (std::uint32_t type = 5; type <= 24; ++type) {
    const LmsParams* row = find_lms(type);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->type, type);
    EXPECT_EQ(row->h, 5 + 5 * ((type - 5) % 5));
    names.insert(row->name);
  }
  EXPECT_EQ(names.size(), 36U) << "names are distinct";
  for (const std::uint32_t none : {0U, 17U, 0xffffffffU}) EXPECT_EQ(find_lm_ots(none), nullptr);
  for (const std::uint32_t none : {0U, 4U, 25U, 0xffffffffU}) EXPECT_EQ(find_lms(none), nullptr);
}

TEST(LmsParams, NamesSayWhatTheRowsHold) {
  for (const LmOtsParams& row : all_lm_ots_params()) {
    const std::string hash = row.hash == HashId::sha256 ? "SHA256" : "SHAKE";
    EXPECT_EQ(row.name,
              "LMOTS_" + hash + "_N" + std::to_string(row.n) + "_W" + std::to_string(row.w));
  }
  for (const LmsParams& row : all_lms_params()) {
    const std::string hash = row.hash == HashId::sha256 ? "SHA256" : "SHAKE";
    EXPECT_EQ(row.name,
              "LMS_" + hash + "_M" + std::to_string(row.m) + "_H" + std::to_string(row.h));
  }
}

TEST(LmsParams, SignatureBytesOfRfc8554AndRfc9858) {
  const std::size_t expected[] = {8516, 4292, 2180, 1124, 4828, 2452, 1252, 652,
                                  8516, 4292, 2180, 1124, 4828, 2452, 1252, 652};
  for (std::uint32_t type = 1; type <= 16; ++type) {
    EXPECT_EQ(find_lm_ots(type)->signature_bytes(), expected[type - 1]) << type;
  }
  EXPECT_EQ(test::pair_of(5, 4).signature_bytes(), 1292U);
  EXPECT_EQ(test::pair_of(5, 4).public_key_bytes(), 56U);
  EXPECT_EQ(test::pair_of(10, 5).signature_bytes(), 4956U);
  EXPECT_EQ(test::pair_of(10, 5).public_key_bytes(), 48U);
}

TEST(LmsParams, EveryPairOfOneHashAndLengthAndNoOther) {
  unsigned good = 0;
  for (const LmsParams& lms : all_lms_params()) {
    for (const LmOtsParams& ots : all_lm_ots_params()) {
      LmsPair pair;
      std::string problem;
      const bool same = lms.hash == ots.hash && lms.m == ots.n;
      ASSERT_EQ(make_pair(lms.type, ots.type, pair, problem), same) << lms.name << ots.name;
      if (same) {
        ++good;
        EXPECT_EQ(pair.name(), std::string(lms.name) + "/" + std::string(ots.name));
      } else {
        EXPECT_NE(problem.find("different hashes"), std::string::npos);
        EXPECT_EQ(pair.lms, nullptr) << "a refused pair is not stored";
      }
    }
  }
  EXPECT_EQ(good, 80U);
  LmsPair pair;
  std::string problem;
  EXPECT_FALSE(make_pair(99, 4, pair, problem));
  EXPECT_EQ(problem, "unknown LMS type 99");
  EXPECT_FALSE(make_pair(5, 99, pair, problem));
  EXPECT_EQ(problem, "unknown LM-OTS type 99");
}

TEST(HssParams, ParsesEveryIanaPairAndPrintsItBack) {
  for (const LmsParams& lms : all_lms_params()) {
    for (const LmOtsParams& ots : all_lm_ots_params()) {
      if (lms.hash != ots.hash || lms.m != ots.n) continue;
      const std::string name = std::string(lms.name) + "/" + std::string(ots.name);
      const HssParams params = parse_hss_params(name);
      ASSERT_EQ(params.levels.size(), 1U);
      EXPECT_EQ(params.levels[0], (LmsPair{&lms, &ots}));
      EXPECT_EQ(params.name(), name);
    }
  }
}

TEST(HssParams, ParsesEveryShortFormOfEveryHash) {
  const struct {
    const char* name;
    HashId hash;
    unsigned n;
  } hashes[] = {{"sha256", HashId::sha256, 32},
                {"sha256-192", HashId::sha256, 24},
                {"shake256", HashId::shake256, 32},
                {"shake256-192", HashId::shake256, 24}};
  for (const auto& hash : hashes) {
    for (const unsigned h : {5U, 10U, 15U, 20U, 25U}) {
      for (const unsigned w : {1U, 2U, 4U, 8U}) {
        const HssParams params =
            parse_hss_params(std::to_string(h) + "/" + std::to_string(w), hash.name);
        ASSERT_EQ(params.levels.size(), 1U);
        const LmsPair& pair = params.levels[0];
        EXPECT_EQ(pair.lms->h, h);
        EXPECT_EQ(pair.ots->w, w);
        EXPECT_EQ(pair.lms->hash, hash.hash);
        EXPECT_EQ(pair.lms->m, hash.n);
      }
    }
  }
}

TEST(HssParams, ParsesLevelsByComma) {
  const HssParams params = parse_hss_params("15/4,10/8,LMS_SHA256_M32_H5/LMOTS_SHA256_N32_W1");
  ASSERT_EQ(params.levels.size(), 3U);
  EXPECT_EQ(params.total_height(), 30U);
  EXPECT_EQ(params.name(),
            "LMS_SHA256_M32_H15/LMOTS_SHA256_N32_W4,LMS_SHA256_M32_H10/LMOTS_SHA256_N32_W8,"
            "LMS_SHA256_M32_H5/LMOTS_SHA256_N32_W1");
  EXPECT_EQ(parse_hss_params(params.name()), params);
  EXPECT_EQ(parse_hss_params("5/8,5/8,5/8,5/8,5/8,5/8,5/8,5/8").levels.size(), 8U);
}

TEST(HssParams, NamesWhatIsWrongAndTheRemedy) {
  const struct {
    const char* text;
    const char* hash;
    const char* message;
  } cases[] = {
      {"", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5/4,", "sha256", "expected HEIGHT/WINTERNITZ"},
      {",5/4", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5/4,,5/4", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5/", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"/4", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5/4x", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"-5/4", "sha256", "expected HEIGHT/WINTERNITZ"},
      {" 5/4", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"5/4294967300", "sha256", "expected HEIGHT/WINTERNITZ"},
      {"6/4", "sha256", "height must be 5, 10, 15, 20 or 25"},
      {"5/3", "sha256", "Winternitz width must be 1, 2, 4 or 8"},
      {"5/4", "sha512", "--hash 'sha512' is unknown; use sha256, sha256-192, shake256"},
      {"LMS_SHA256_M32_H6/LMOTS_SHA256_N32_W8", "sha256", "unknown LMS type 'LMS_SHA256_M32_H6'"},
      {"LMS_SHA256_M32_H5/LMOTS_SHA256_N32_W3", "sha256",
       "unknown LM-OTS type 'LMOTS_SHA256_N32_W3'"},
      {"LMS_SHA256_M32_H5", "sha256", "unknown LM-OTS type ''"},
      {"LMS_SHA256_M32_H5/8", "sha256", "unknown LM-OTS type '8'"},
      {"LMS_SHA256_M32_H5/LMOTS_SHA256_N24_W8", "sha256", "have different hashes"},
      {"LMS_SHA256_M32_H5/LMOTS_SHAKE_N32_W8", "sha256", "have different hashes"},
      {"5/8,LMS_SHA256_M24_H5/LMOTS_SHA256_N24_W8", "sha256", "mixes hashes"},
      {"5/8,LMS_SHAKE_M32_H5/LMOTS_SHAKE_N32_W8", "sha256", "mixes hashes"},
      {"5/8,5/8,5/8,5/8,5/8,5/8,5/8,5/8,5/8", "sha256", "9 levels; HSS allows at most 8"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    expect_error(Errc::usage, c.message, [&] { (void)parse_hss_params(c.text, c.hash); });
  }
}

TEST(HssParams, SizesOfWholeKeysAndSignatures) {
  EXPECT_EQ(parse_hss_params("5/8,5/8").signature_bytes(), 2644U);   // RFC 8554 Test Case 1
  EXPECT_EQ(parse_hss_params("10/4,5/8").signature_bytes(), 3860U);  // Test Case 2
  EXPECT_EQ(parse_hss_params("5/8").public_key_bytes(), 60U);
  EXPECT_EQ(parse_hss_params("5/8", "sha256-192").public_key_bytes(), 52U);
}

TEST(HssParams, CapacitySaturatesAtTheTopOfTheIndex) {
  EXPECT_EQ(parse_hss_params("5/8").capacity(), 32U);
  EXPECT_EQ(parse_hss_params("25/8,25/8").capacity(), 1ULL << 50);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const HssParams just_below = parse_hss_params("25/8,25/8,5/8,5/8");  // 60
  EXPECT_EQ(just_below.capacity(), 1ULL << 60);
  EXPECT_EQ(parse_hss_params("25/8,25/8,15/8").capacity(), kMost);  // 65
  const HssParams widest = parse_hss_params("25/8,25/8,25/8,25/8,25/8,25/8,25/8,25/8");
  EXPECT_EQ(widest.total_height(), 200U);
  EXPECT_EQ(widest.capacity(), kMost);
}

TEST(HssParams, LeafAndTreeAtSplitTheIndex) {
  const HssParams params = parse_hss_params("10/8,5/8,15/8");
  const std::uint64_t index = (std::uint64_t{0x2a5} << 20) | (std::uint64_t{0x13} << 15) | 0x1234;
  EXPECT_EQ(params.leaf_at(0, index), 0x2a5U);
  EXPECT_EQ(params.leaf_at(1, index), 0x13U);
  EXPECT_EQ(params.leaf_at(2, index), 0x1234U);
  EXPECT_EQ(params.tree_at(0, index), 0U);
  EXPECT_EQ(params.tree_at(1, index), 0x2a5U);
  EXPECT_EQ(params.tree_at(2, index), (0x2a5U << 5) | 0x13U);
  const std::uint64_t last = params.capacity() - 1;
  for (std::size_t level = 0; level < 3; ++level) {
    EXPECT_EQ(params.leaf_at(level, last), (1ULL << params.levels[level].lms->h) - 1);
    EXPECT_EQ(params.leaf_at(level, 0), 0U);
  }
}

TEST(HssParams, LevelsAboveBit64StayAtTheirFirstLeaf) {
  const HssParams params = parse_hss_params("25/8,25/8,25/8,25/8,25/8,25/8,25/8,25/8");
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() - 1;
  EXPECT_EQ(params.leaf_at(7, last), (1ULL << 25) - 2);
  EXPECT_EQ(params.leaf_at(6, last), (1ULL << 25) - 1);
  EXPECT_EQ(params.leaf_at(5, last), (1ULL << 14) - 1) << "14 of 64 bits are left for this level";
  EXPECT_EQ(params.tree_at(5, last), 0U);
  for (std::size_t level = 0; level < 5; ++level) {
    EXPECT_EQ(params.leaf_at(level, last), 0U);
    EXPECT_EQ(params.tree_at(level, last), 0U);
  }
}

}  // namespace
}  // namespace coppice
