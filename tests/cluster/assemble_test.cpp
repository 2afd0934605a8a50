// Assembly of the ranks' records: the tree of one process comes out for every cut, and what is
// missing is named.
#include "cluster/job/assemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cluster/job/partition.hpp"
#include "core/hash/dispatch.hpp"

namespace coppice {
namespace {

class Assemble : public testing::Test {
 protected:
  Assemble() {
    pair_ = parse_hss_params("5/4", "sha256-192").levels.front();
    secret_.seed_bytes = pair_.lms->m;
    for (std::size_t i = 0; i < secret_.seed_bytes; ++i)
      secret_.seed.writable()[i] = static_cast<std::uint8_t>(i);
    secret_.identifier.fill(0x5a);
    whole_.emplace(SerialGrower(kernel_).grow(pair_, secret_, pair_.lms->h));
  }

  // What each rank would send.
  std::vector<Bytes> grow(const UnitPlan& plan, const std::vector<UnitRange>& ranges) {
    const LmsTreeSecret* const one[] = {&secret_};
    const LmsTreesFactory factory(pair_, one, kernel_);
    std::vector<Bytes> records;
    for (const UnitRange& range : ranges) {
      Bytes& mine =
          records.emplace_back(static_cast<std::size_t>(range.size()) * plan.record_bytes());
      Executor executor(1);
      const std::atomic<bool> never{false};
      EXPECT_TRUE(grow_units(factory, plan, range, executor, never, mine));
    }
    return records;
  }

  TreeCache join(const UnitPlan& plan, const std::vector<UnitRange>& ranges,
                 const std::vector<Bytes>& records) {
    const LmsTreeSecret* const one[] = {&secret_};
    LmsTrees scheme(pair_, one, kernel_);
    return assemble(plan, ranges, records, scheme);
  }

  std::string failure(const UnitPlan& plan, const std::vector<UnitRange>& ranges,
                      const std::vector<Bytes>& records) {
    try {
      (void)join(plan, ranges, records);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::internal);
      return e.what();
    }
    return "no error";
  }

  const HashMany& kernel_ = select_kernel(HashId::sha256, "portable");
  LmsPair pair_;
  LmsTreeSecret secret_;
  std::optional<TreeCache> whole_;
};

TEST_F(Assemble, EveryCutGivesTheSameTree) {
  const std::vector<std::vector<std::uint64_t>> worlds = {{1}, {1, 1}, {3, 1, 2}, {0, 1, 0, 4, 1}};
  for (unsigned unit_height = 0; unit_height <= 5; ++unit_height) {
    for (unsigned cache_depth = 0; cache_depth <= 5; ++cache_depth) {
      const UnitPlan plan{5, unit_height, cache_depth, pair_.lms->m};
      for (const auto& weights : worlds) {
        const std::vector<UnitRange> ranges = partition(plan.units(), weights);
        const TreeCache full = join(plan, ranges, grow(plan, ranges));
        ASSERT_EQ(full.depth(), std::max(cache_depth, 5 - unit_height));
        const TreeCache upper = upper_rows(full, cache_depth);
        ASSERT_TRUE(equal(upper.bytes(), whole_->bytes().first(upper.bytes().size())))
            << "units of height " << unit_height << ", cache of " << cache_depth << " rows, "
            << weights.size() << " ranks";
        ASSERT_TRUE(equal(full.bytes(), whole_->bytes().first(full.bytes().size())));
      }
    }
  }
}

TEST_F(Assemble, WrongSizesNameTheRank) {
  const UnitPlan plan{5, 2, 4, pair_.lms->m};
  const std::vector<UnitRange> ranges =
      partition(plan.units(), std::vector<std::uint64_t>{1, 1, 1});
  std::vector<Bytes> records = grow(plan, ranges);
  for (std::size_t r = 0; r < records.size(); ++r) {
    for (const int change : {-1, 1, -static_cast<int>(records[r].size())}) {
      std::vector<Bytes> bad = records;
      bad[r].resize(static_cast<std::size_t>(static_cast<int>(bad[r].size()) + change));
      EXPECT_NE(failure(plan, ranges, bad).find("rank " + std::to_string(r)), std::string::npos);
    }
  }
}

TEST_F(Assemble, MissingRanksAndUnits) {
  const UnitPlan plan{5, 2, 0, pair_.lms->m};
  const std::vector<UnitRange> ranges = partition(plan.units(), std::vector<std::uint64_t>{1, 1});
  const std::vector<Bytes> records = grow(plan, ranges);
  EXPECT_NE(failure(plan, ranges, {records[0]}).find("rank 1"), std::string::npos);
  EXPECT_NE(failure(plan, ranges, {}).find("rank 0"), std::string::npos);
  EXPECT_NE(failure(plan, {ranges[0]}, {records[0]}).find("4 units"), std::string::npos);
  EXPECT_NE(failure(plan, {ranges[1], ranges[0]}, {records[1], records[0]}).find("rank 0"),
            std::string::npos);
  EXPECT_NE(failure(plan, {ranges[0], ranges[0]}, {records[0], records[0]}).find("rank 1"),
            std::string::npos);
}

TEST_F(Assemble, SelfCheckPassesTheTrueTree) {
  for (const unsigned depth : {0U, 1U, 3U, 5U}) {
    const TreeCache upper = upper_rows(*whole_, depth);
    const unsigned again = self_check(pair_, secret_, upper, kernel_);
    EXPECT_GE(again, std::min(2U, 1U << depth));
    EXPECT_LE(again, 3U);
  }
}

TEST_F(Assemble, SelfCheckFindsEveryWrongNode) {
  const TreeCache upper = upper_rows(*whole_, 3);
  const std::size_t n = pair_.lms->m;
  for (std::size_t node = 0; node < upper.bytes().size() / n; ++node) {
    TreeCache bad = upper;
    bad.bytes()[node * n + node % n] ^= 0x40;
    EXPECT_THROW((void)self_check(pair_, secret_, bad, kernel_), Error) << "node " << node + 1;
  }
}

TEST_F(Assemble, SelfCheckFindsATreeOfAnotherSeed) {
  LmsTreeSecret other;
  other.seed_bytes = secret_.seed_bytes;
  other.identifier = secret_.identifier;
  other.seed.writable()[0] = 99;
  for (const unsigned depth : {0U, 2U, 5U}) {
    EXPECT_THROW((void)self_check(pair_, other, upper_rows(*whole_, depth), kernel_), Error)
        << depth;
  }
}

}  // namespace
}  // namespace coppice
