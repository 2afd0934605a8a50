// The control channel over threads that play ranks: every unit once, stop from any rank, silence.
#include "cluster/mpi/control.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "node/executor.hpp"
#include "tests/cluster/thread_comm.hpp"

namespace coppice {
namespace {

using namespace std::chrono_literals;
using test::World;

struct Outcome {
  std::multiset<std::uint64_t> units;  // whose records came
  std::vector<std::uint64_t> by_rank;
  std::vector<std::string> errors;  // per rank
};

// A job whose unit takes `cost(rank)`; `stop_at` units on rank `stopper` raise its stop flag.
struct Job {
  int ranks = 3;
  unsigned threads = 2;
  std::vector<UnitRange> todo = {{0, 100}};
  std::function<std::chrono::microseconds(int)> cost = [](int) { return 200us; };
  int stopper = -1;
  int silent = -1;  // this rank stops calling tick() after its first unit
  ControlTimes times;
};

Outcome run(const Job& job) {
  Outcome out;
  out.by_rank.resize(static_cast<std::size_t>(job.ranks));
  World world(job.ranks);
  std::atomic<bool> job_failed{false};
  const auto thrown = world.run([&](Comm& comm) {
    Coordination coordination;
    coordination.todo = job.todo;
    coordination.hosts.assign(static_cast<std::size_t>(job.ranks), "host");
    coordination.take = [&](std::uint64_t unit, ByteView record) {
      EXPECT_EQ(record.size(), 1 + unit % 5);
      out.units.insert(unit);
    };
    WorkQueue queue;
    std::atomic<bool> wanted{false};
    ControlChannel channel(comm, queue, job.threads, wanted, comm.root() ? &coordination : nullptr,
                           job.times);
    try {
      Executor executor(job.threads);
      executor.run(
          queue,
          [&](unsigned, std::uint64_t unit) {
            std::this_thread::sleep_for(job.cost(comm.rank()));
            channel.done(unit, Bytes(1 + unit % 5));
            if (comm.rank() == job.stopper) wanted = true;
          },
          channel.stopping(),
          [&](std::uint64_t) {
            channel.tick();
            while (comm.rank() == job.silent && channel.own_units() > 0 && !job_failed) {
              std::this_thread::sleep_for(1ms);
            }
            if (job_failed) fail(Errc::interrupted, "another rank failed");
          });
      channel.finish();
    } catch (...) {
      job_failed = true;
      throw;
    }
    out.by_rank[static_cast<std::size_t>(comm.rank())] = channel.own_units();
    EXPECT_FALSE(comm.poll().has_value()) << "rank " << comm.rank() << " has mail left";
    EXPECT_FALSE(comm.any(comm.poll().has_value()));
  });
  for (const auto& e : thrown) {
    std::string text;
    try {
      if (e) std::rethrow_exception(e);
    } catch (const Error& error) {
      text = error.what();
    }
    out.errors.push_back(text);
  }
  return out;
}

void expect_each_once(const Outcome& out, const std::vector<UnitRange>& todo) {
  std::multiset<std::uint64_t> want;
  for (const UnitRange& range : todo) {
    for (std::uint64_t u = range.first; u < range.last; ++u) want.insert(u);
  }
  EXPECT_EQ(out.units, want);
  for (const std::string& error : out.errors) EXPECT_EQ(error, "");
}

TEST(Control, EveryUnitOnce) {
  for (const int ranks : {1, 2, 5}) {
    for (const unsigned threads : {1U, 3U}) {
      Job job;
      job.ranks = ranks;
      job.threads = threads;
      for (const auto& todo : std::vector<std::vector<UnitRange>>{
               {{0, 100}}, {{0, 1}}, {{4, 4}, {3, 9}, {20, 21}, {50, 90}}, {}}) {
        job.todo = todo;
        expect_each_once(run(job), todo);
      }
    }
  }
}

TEST(Control, SlowRanksGetLess) {
  Job job;
  job.ranks = 2;
  job.threads = 1;
  job.cost = [](int rank) { return rank == 1 ? 8000us : 1000us; };
  const Outcome out = run(job);
  expect_each_once(out, job.todo);
  EXPECT_GT(out.by_rank[0], out.by_rank[1]);
  EXPECT_GT(out.by_rank[1], 0U);
}

TEST(Control, StopFromAnyRankEndsAll) {
  for (const int stopper : {0, 1, 2}) {
    Job job;
    job.stopper = stopper;
    job.todo = {{0, 100000}};
    const Outcome out = run(job);
    for (const std::string& error : out.errors) EXPECT_EQ(error, "");
    EXPECT_GT(out.units.size(), 0U);
    EXPECT_LT(out.units.size(), 100000U);
    std::uint64_t sum = 0;
    for (const std::uint64_t n : out.by_rank) sum += n;
    EXPECT_EQ(out.units.size(), sum) << "a finished unit was lost";
  }
}

TEST(Control, SilenceNamesTheRank) {
  Job job;
  job.silent = 2;
  job.todo = {{0, 1000000}};
  job.times.beat = 20ms;
  job.times.silence = 400ms;
  const auto start = std::chrono::steady_clock::now();
  const Outcome out = run(job);
  EXPECT_NE(out.errors[0].find("rank 2 on host has said nothing"), std::string::npos) << out.errors[0];
  EXPECT_NE(out.errors[0].find("its last unit was"), std::string::npos) << out.errors[0];
  EXPECT_LT(std::chrono::steady_clock::now() - start, 60s);
}

}  // namespace
}  // namespace coppice
