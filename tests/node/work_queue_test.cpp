// Units once each, from ranges that come while threads wait; close and halt.
#include "node/work_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coppice {
namespace {

using namespace std::chrono_literals;

TEST(WorkQueue, RangesInOrder) {
  WorkQueue queue;
  EXPECT_FALSE(queue.take(0ms));
  queue.add({3, 3});  // empty
  queue.add({5, 7});
  queue.add({1, 2});
  EXPECT_EQ(queue.waiting(), 3U);
  for (const std::uint64_t want : {5U, 6U, 1U}) EXPECT_EQ(queue.take(0ms), want);
  EXPECT_FALSE(queue.take(0ms));
  EXPECT_FALSE(queue.exhausted());
  queue.close();
  EXPECT_TRUE(queue.exhausted());
  EXPECT_EQ(queue.taken(), 3U);
}

TEST(WorkQueue, CloseKeepsWhatWaits) {
  WorkQueue queue(UnitRange{0, 2});
  EXPECT_FALSE(queue.exhausted());
  EXPECT_EQ(queue.take(0ms), 0U);
  EXPECT_EQ(queue.take(0ms), 1U);
  EXPECT_TRUE(queue.exhausted());
}

TEST(WorkQueue, HaltDropsWhatWaitsAndWhatComes) {
  WorkQueue queue;
  queue.add({0, 9});
  queue.halt();
  EXPECT_TRUE(queue.exhausted());
  queue.add({9, 12});
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_FALSE(queue.take(0ms));
}

TEST(WorkQueue, WaitingThreadsGetEveryUnitOnce) {
  constexpr std::uint64_t kUnits = 5000;
  WorkQueue queue;
  std::vector<std::atomic<int>> seen(kUnits);
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      while (!queue.exhausted()) {
        if (const auto unit = queue.take(50ms)) ++seen[*unit];
      }
    });
  }
  for (std::uint64_t u = 0; u < kUnits; u += 10) queue.add({u, u + 10});
  queue.close();
  for (std::thread& t : team) t.join();
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(WorkQueue, HaltWakesThoseWhoWait) {
  WorkQueue queue;
  const auto start = std::chrono::steady_clock::now();
  std::thread waiting([&] { EXPECT_FALSE(queue.take(60s)); });
  std::this_thread::sleep_for(20ms);
  queue.halt();
  waiting.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

}  // namespace
}  // namespace coppice
