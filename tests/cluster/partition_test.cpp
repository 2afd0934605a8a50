// Partition over ranks: properties that hold for any weights and any number of units.
#include "cluster/job/partition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "core/base/error.hpp"

namespace coppice {
namespace {

// Contiguous, in rank order, whole, within one unit of the exact share.
void check(std::uint64_t units, const std::vector<std::uint64_t>& weights) {
  const std::vector<UnitRange> ranges = partition(units, weights);
  ASSERT_EQ(ranges.size(), weights.size());
  const auto total =
      static_cast<long double>(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}));
  std::uint64_t next = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    ASSERT_EQ(ranges[r].first, next) << "rank " << r;
    ASSERT_LE(ranges[r].first, ranges[r].last) << "rank " << r;
    const long double share =
        static_cast<long double>(units) * static_cast<long double>(weights[r]) / total;
    ASSERT_LT(std::fabs(static_cast<long double>(ranges[r].size()) - share), 1.0L)
        << "rank " << r << " of weight " << weights[r];
    if (weights[r] == 0) {
      ASSERT_EQ(ranges[r].size(), 0U);
    }
    next = ranges[r].last;
  }
  ASSERT_EQ(next, units);
}

TEST(Partition, RandomWeightsAndUnits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint64_t> weights(1 + random() % 40);
    for (auto& w : weights) w = random() % 5 == 0 ? 0 : random() % 257;
    weights[random() % weights.size()] = 1 + random() % 257;
    check(random() % (std::uint64_t{1} << (random() % 26)), weights);
  }
}

TEST(Partition, Edges) {
  check(0, {1, 2, 3});
  check(1, {1});
  check(1, {1, 1, 1, 1, 1});
  check(3, {0, 0, 7, 0});
  check(std::uint64_t{1} << 25, std::vector<std::uint64_t>(4096, 1));
  // The largest product that the code promises to hold: 2^25 units, 2^32 threads in all.
  check(std::uint64_t{1} << 25, {(std::uint64_t{1} << 32) - 2, 1});
}

TEST(Partition, MoreRanksThanUnits) {
  const std::vector<std::uint64_t> weights(100, 3);
  check(7, weights);
  std::uint64_t busy = 0;
  for (const UnitRange& range : partition(7, weights)) busy += range.size() > 0 ? 1 : 0;
  EXPECT_EQ(busy, 7U);
}

TEST(Partition, EqualWeightsDifferByOneAtMost) {
  for (std::uint64_t ranks = 1; ranks <= 17; ++ranks) {
    const std::vector<UnitRange> ranges = partition(64, std::vector<std::uint64_t>(ranks, 2));
    std::uint64_t least = 64;
    std::uint64_t most = 0;
    for (const UnitRange& range : ranges) {
      least = std::min(least, range.size());
      most = std::max(most, range.size());
    }
    EXPECT_LE(most - least, 1U) << ranks;
  }
}

TEST(Partition, NobodyToWorkIsAnError) {
  for (const std::vector<std::uint64_t>& weights : {std::vector<std::uint64_t>{}, {0}, {0, 0, 0}}) {
    try {
      (void)partition(8, weights);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::internal);
    }
  }
}

}  // namespace
}  // namespace coppice
