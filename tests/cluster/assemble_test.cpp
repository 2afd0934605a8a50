// Assembly of the ranks' records: the tree of one process comes out for every cut, and what is
// missing is named.
#include "cluster/job/assemble.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

  // The records of all units, in order.
  std::vector<Bytes> grow(const UnitPlan& plan) {
    const LmsTreeSecret* const one[] = {&secret_};
    const LmsTreesFactory factory(pair_, one, kernel_);
    std::vector<Bytes> records(plan.units());
    Executor executor(1);
    const std::atomic<bool> never{false};
    WorkQueue queue(UnitRange{0, plan.units()});
    const Growth growth =
        grow_units(factory, plan, queue, executor, never, [&](std::uint64_t unit, ByteView record) {
          records[unit].assign(record.begin(), record.end());
        });
    EXPECT_TRUE(growth.complete);
    EXPECT_GT(growth.busy_seconds, 0);
    return records;
  }

  TreeCache fold(Assembly&& assembly) {
    const LmsTreeSecret* const one[] = {&secret_};
    LmsTrees scheme(pair_, one, kernel_);
    return std::move(assembly).fold(scheme);
  }

  template <class Step>
  std::string failure(Step step) {
    try {
      step();
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

TEST_F(Assemble, EveryCutInAnyOrderGivesTheSameTree) {
  std::mt19937 random(1);
  for (unsigned unit_height = 0; unit_height <= 5; ++unit_height) {
    for (unsigned cache_depth = 0; cache_depth <= 5; ++cache_depth) {
      const UnitPlan plan{5, unit_height, cache_depth, pair_.lms->m};
      const std::vector<Bytes> records = grow(plan);
      std::vector<std::uint64_t> order(records.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::shuffle(order, random);
      Assembly assembly(plan);
      for (const std::uint64_t unit : order) {
        EXPECT_TRUE(assembly.place(unit, records[unit]));
        EXPECT_FALSE(assembly.place(unit, Bytes(plan.record_bytes())));  // the first one counts
      }
      EXPECT_EQ(assembly.placed(), plan.units());
      const TreeCache full = fold(std::move(assembly));
      ASSERT_EQ(full.depth(), std::max(cache_depth, 5 - unit_height));
      ASSERT_TRUE(equal(full.bytes(), whole_->bytes().first(full.bytes().size())))
          << "units of height " << unit_height << ", cache of " << cache_depth << " rows";
    }
  }
}

TEST_F(Assemble, WrongSizesAndUnits) {
  const UnitPlan plan{5, 2, 4, pair_.lms->m};
  Assembly assembly(plan);
  const Bytes record(plan.record_bytes());
  EXPECT_NE(failure([&] { assembly.place(8, record); }).find("unit 8"), std::string::npos);
  EXPECT_NE(failure([&] { assembly.place(3, ByteView(record).first(record.size() - 1)); }).find("unit 3"),
            std::string::npos);
  EXPECT_NE(failure([&] { assembly.place(0, {}); }).find("unit 0"), std::string::npos);
  EXPECT_EQ(assembly.placed(), 0U);
}

TEST_F(Assemble, MissingUnits) {
  const UnitPlan plan{5, 2, 0, pair_.lms->m};
  const std::vector<Bytes> records = grow(plan);
  Assembly assembly(plan);
  EXPECT_EQ(assembly.missing(), (std::vector<UnitRange>{{0, 8}}));
  for (const std::uint64_t unit : {0U, 3U, 4U, 7U}) assembly.place(unit, records[unit]);
  EXPECT_EQ(assembly.missing(), (std::vector<UnitRange>{{1, 3}, {5, 7}}));
  EXPECT_NE(failure([&] { (void)fold(std::move(assembly)); }).find("4 units"), std::string::npos);
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
