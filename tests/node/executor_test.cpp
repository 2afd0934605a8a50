// Every unit once, whatever the number of threads; stop, exceptions and ticks.
#include "node/executor.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const std::atomic<bool> kGoOn{false};

TEST(Executor, EveryUnitOnce) {
  for (const unsigned threads : {1U, 2U, 3U, 8U, 33U}) {
    Executor executor(threads);
    EXPECT_EQ(executor.threads(), threads);
    for (const std::uint64_t units : {0U, 1U, 2U, 7U, 1000U}) {
      std::vector<std::atomic<int>> count(units);
      std::vector<int> per_worker(threads, 0);  // no atomics: a worker id belongs to one thread
      std::atomic<bool> bad_worker{false};
      EXPECT_TRUE(executor.run(
          units,
          [&](unsigned worker, std::uint64_t unit) {
            if (worker >= threads) {
              bad_worker = true;
            } else {
              ++per_worker[worker];
            }
            ++count[unit];
          },
          kGoOn));
      EXPECT_FALSE(bad_worker);
      for (const std::atomic<int>& c : count) EXPECT_EQ(c, 1);
      std::uint64_t sum = 0;
      for (const int n : per_worker) sum += static_cast<std::uint64_t>(n);
      EXPECT_EQ(sum, units);
    }
  }
}

TEST(Executor, UsesItsThreads) {
  Executor executor(4);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  executor.run(
      40,
      [&](unsigned, std::uint64_t) {
        std::this_thread::sleep_for(5ms);
        const std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
      },
      kGoOn);
  EXPECT_EQ(ids.size(), 4U);
  EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
}

TEST(Executor, ResultsAreVisibleAfterwards) {
  Executor executor(4);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint64_t> out(64);
    executor.run(
        out.size(), [&](unsigned, std::uint64_t unit) { out[unit] = unit * unit; }, kGoOn);
    for (std::uint64_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i * i);
  }
}

TEST(Executor, StopSkipsWhatHasNotStarted) {
  for (const unsigned threads : {1U, 4U}) {
    Executor executor(threads);
    std::atomic<bool> stop{false};
    std::atomic<int> started{0};
    std::atomic<int> ended{0};
    EXPECT_FALSE(executor.run(
        100'000,
        [&](unsigned, std::uint64_t unit) {
          ++started;
          if (unit == 10) stop = true;
          std::this_thread::sleep_for(1ms);
          ++ended;
        },
        stop));
    EXPECT_EQ(started, ended);
    EXPECT_LT(started, 1000);
  }
  Executor executor(2);
  const std::atomic<bool> stopped{true};
  EXPECT_FALSE(executor.run(
      5, [](unsigned, std::uint64_t) { FAIL(); }, stopped));
  EXPECT_TRUE(executor.run(
      0, [](unsigned, std::uint64_t) { FAIL(); }, stopped));
}

// Stopped after the last unit had been dealt out: all of them are done, and that is what counts.
TEST(Executor, StopThatComesTooLate) {
  Executor executor(2);
  std::atomic<bool> stop{false};
  EXPECT_TRUE(executor.run(
      10,
      [&](unsigned, std::uint64_t unit) {
        if (unit == 9) stop = true;
      },
      stop));
}

TEST(Executor, FirstExceptionComesBack) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    Executor executor(threads);
    std::atomic<int> started{0};
    const std::string what = error_of(Errc::io, [&] {
      executor.run(
          100'000,
          [&](unsigned, std::uint64_t unit) {
            ++started;
            std::this_thread::sleep_for(100us);
            if (unit >= 5) fail(Errc::io, "unit failed");
          },
          kGoOn);
    });
    EXPECT_EQ(what, "unit failed");
    EXPECT_LT(started, 1000);
    // And the executor is as good as before.
    EXPECT_TRUE(executor.run(
        10, [](unsigned, std::uint64_t) {}, kGoOn));
  }
  Executor executor(2);
  EXPECT_THROW(executor.run(
                   5, [](unsigned, std::uint64_t) { throw 7; }, kGoOn),
               int);
}

TEST(Executor, TicksOnTheCallingThread) {
  for (const unsigned threads : {1U, 3U}) {
    Executor executor(threads);
    const std::thread::id caller = std::this_thread::get_id();
    std::uint64_t last = 0;
    int ticks = 0;
    EXPECT_TRUE(executor.run(
        50, [](unsigned, std::uint64_t) { std::this_thread::sleep_for(1ms); }, kGoOn,
        [&](std::uint64_t done) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          EXPECT_GE(done, last);
          EXPECT_LE(done, 50U);
          last = done;
          ++ticks;
        }));
    EXPECT_EQ(last, 50U);
    EXPECT_GE(ticks, 10);
  }
}

// One long unit on another thread: the calling thread, without work, keeps ticking.
TEST(Executor, TicksWhileWaiting) {
  Executor executor(2);
  const std::thread::id caller = std::this_thread::get_id();
  int waiting_ticks = 0;
  std::atomic<bool> long_one{false};
  executor.run(
      2,
      [&](unsigned, std::uint64_t) {
        if (std::this_thread::get_id() == caller) {
          while (!long_one) std::this_thread::sleep_for(1ms);
        } else {
          long_one = true;
          std::this_thread::sleep_for(400ms);
        }
      },
      kGoOn, [&](std::uint64_t) { ++waiting_ticks; });
  EXPECT_GE(waiting_ticks, 10);
}

TEST(Executor, TickMayStopOrThrow) {
  Executor executor(2);
  std::atomic<bool> stop{false};
  EXPECT_FALSE(executor.run(
      100'000, [](unsigned, std::uint64_t) { std::this_thread::sleep_for(100us); }, stop,
      [&](std::uint64_t done) {
        if (done > 20) stop = true;
      }));
  error_of(Errc::answer_no, [&] {
    executor.run(
        100'000, [](unsigned, std::uint64_t) { std::this_thread::sleep_for(100us); }, kGoOn,
        [](std::uint64_t done) {
          if (done > 20) fail(Errc::answer_no, "from the tick");
        });
  });
}

TEST(Executor, RefusesSillyNumbers) {
  error_of(Errc::usage, [] { const Executor none(0); });
  error_of(Errc::usage, [] { const Executor many(1'000'000); });
}

// Fewer threads than asked for, by the runtime's own limit. In a fresh process: it is read at
// start.
TEST(Executor, FewerThreadsThanAskedFor) {
  if (std::getenv("OMP_THREAD_LIMIT") == nullptr) {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    const std::string command =
        "OMP_THREAD_LIMIT=2 '" + self +
        "' --gtest_filter=Executor.FewerThreadsThanAskedFor >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return;
  }
  Executor executor(8);
  std::vector<std::atomic<int>> count(500);
  EXPECT_TRUE(executor.run(
      count.size(),
      [&](unsigned worker, std::uint64_t unit) {
        EXPECT_LT(worker, 8U);
        ++count[unit];
      },
      kGoOn));
  for (const std::atomic<int>& c : count) EXPECT_EQ(c, 1);
}

// C4: no thread to be had is our error with our exit code, not the end of the process.
TEST(Executor, NoThreadToBeHad) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer starts no threads after fork()";
#endif
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // the limit does not hold for root
    const struct rlimit one = {1, 1};
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    if (::setrlimit(RLIMIT_NPROC, &one) != 0) ::_exit(3);
    try {
      const Executor executor(64);
      ::_exit(0);
    } catch (const Error& e) {
      ::_exit(contains(e.what(), "cannot start 64 threads") ? e.exit_code() : 4);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 0) GTEST_SKIP() << "RLIMIT_NPROC has no effect here";
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(Errc::unavailable));
}

}  // namespace
}  // namespace coppice
