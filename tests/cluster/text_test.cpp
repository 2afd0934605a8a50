// Numbers as text for people, results as aligned lines, and the calibration behind the estimates.
#include "cluster/report/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/job/calibrate.hpp"
#include "core/hash/dispatch.hpp"
#include "core/lms/lms_cost.hpp"

namespace coppice {
namespace {

TEST(Text, Bytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(human_bytes(std::uint64_t{5} << 50), "5120.0 TiB");
  EXPECT_NE(human_bytes(~std::uint64_t{0}).find("TiB"), std::string::npos);
}

TEST(Text, Counts) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1 000");
  EXPECT_EQ(human_count(12345), "12 345");
  EXPECT_EQ(human_count(1048576), "1 048 576");
  EXPECT_EQ(human_count(~std::uint64_t{0}), "18 446 744 073 709 551 615");
}

TEST(Text, Seconds) {
  EXPECT_EQ(human_seconds(0), "0 us");
  EXPECT_EQ(human_seconds(0.000012), "12 us");
  EXPECT_EQ(human_seconds(0.041), "41 ms");
  EXPECT_EQ(human_seconds(3.2), "3.2 s");
  EXPECT_EQ(human_seconds(119.0), "119.0 s");
  EXPECT_EQ(human_seconds(300), "5 min");
  EXPECT_EQ(human_seconds(7500), "2 h 05 min");
  EXPECT_EQ(human_seconds(4 * 86400.0), "4.0 days");
}

TEST(Text, Capacity) {
  EXPECT_EQ(human_capacity(parse_hss_params("5/8")), "32 (2^5)");
  EXPECT_EQ(human_capacity(parse_hss_params("20/8,20/8")), "1 099 511 627 776 (2^40)");
  const HssParams most = parse_hss_params("25/8,25/8,25/8,25/8,25/8,25/8,25/8,25/8");
  EXPECT_EQ(human_capacity(most).find("(2^200)"), std::string::npos);
  EXPECT_NE(human_capacity(most).find("2^64"), std::string::npos);
}

// Every line is "name value" with the value in column 13.
void expect_aligned(const std::string& text) {
  ASSERT_TRUE(text.ends_with('\n'));
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    ASSERT_GT(line.size(), 13U) << line;
    EXPECT_EQ(line[12], ' ') << line;
    EXPECT_NE(line[13], ' ') << line;
  }
}

TEST(Text, Results) {
  JobResult r;
  r.params = parse_hss_params("10/8");
  r.files = KeyPaths::in("folder", "name");
  RankLayout rank;
  rank.host = "a";
  rank.threads = 2;
  rank.kernel = "avx2";
  r.layout = {rank, rank};
  r.compute_seconds = 1;
  r.total_seconds = 2;
  std::string text = to_text(r);
  expect_aligned(text);
  EXPECT_NE(text.find("1 host(s), 2 rank(s), 4 thread(s), kernel avx2"), std::string::npos);
  EXPECT_EQ(text.find("WARNING"), std::string::npos);
  r.insecure_seed = true;
  EXPECT_NE(to_text(r).find("WARNING"), std::string::npos);
  r.already_complete = true;
  text = to_text(r);
  expect_aligned(text);
  EXPECT_NE(text.find("complete already"), std::string::npos);

  DryRun dry;
  dry.params = r.params;
  dry.kernel = "avx2";
  dry.unit_height = 4;
  text = to_text(dry);
  expect_aligned(text);
  EXPECT_NE(text.find("64 of 16 leaves"), std::string::npos);
}

TEST(Calibrate, RatesAreSane) {
  for (const char* hash : {"sha256", "shake256-192"}) {
    const LmsPair small = parse_hss_params("5/1", hash).levels.front();
    const LmsPair large = parse_hss_params("25/8", hash).levels.front();
    for (const HashMany* kernel : kernels(small.lms->hash)) {
      const double light = seconds_per_leaf(small, *kernel);
      const double heavy = seconds_per_leaf(large, *kernel);
      // From 10^4 to 10^11 calls a second and core, and W8 costs more than W1.
      for (const auto& [seconds, pair] : {std::pair{light, &small}, std::pair{heavy, &large}}) {
        const double per_call = seconds / static_cast<double>(leaf_cost(*pair));
        EXPECT_GT(per_call, 1e-11) << kernel->name;
        EXPECT_LT(per_call, 1e-4) << kernel->name;
      }
      EXPECT_GT(heavy, light) << kernel->name;
    }
  }
}

}  // namespace
}  // namespace coppice
