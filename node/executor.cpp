// Units on the threads of one team: a queue deals them out, the calling thread also ticks.
#include "node/executor.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/error.hpp"

namespace coppice {
namespace {

constexpr unsigned kMaxThreads = 1 << 16;
constexpr auto kTickInterval = std::chrono::milliseconds(10);

// The largest team this process has been seen to start.
std::atomic<unsigned> proven_threads{1};

// An OpenMP runtime that cannot start a thread ends the process with its own message and code, so
// the same number of threads is tried first where a failure is an exception.
void prove_threads(unsigned threads) {
  if (threads <= proven_threads.load()) return;
  std::mutex mutex;
  std::condition_variable released;
  bool go = false;
  std::vector<std::thread> team;
  std::string problem;
  try {
    team.reserve(threads - 1);
    while (team.size() + 1 < threads) {
      team.emplace_back([&] {
        std::unique_lock lock(mutex);
        released.wait(lock, [&] { return go; });
      });
    }
  } catch (const std::exception& e) {
    problem = "cannot start " + std::to_string(threads) + " threads, only " +
              std::to_string(team.size() + 1) + " (" + e.what() +
              "); raise 'ulimit -u' or the pids limit of the container, or use fewer --threads";
  }
  {
    const std::lock_guard lock(mutex);
    go = true;
  }
  released.notify_all();
  for (std::thread& thread : team) thread.join();
  if (!problem.empty()) fail(Errc::unavailable, problem);
  proven_threads.store(threads);
}

// One run(): shared by its threads.
class Run {
 public:
  Run(WorkQueue& queue, const std::function<void(unsigned, std::uint64_t)>& work,
      const std::atomic<bool>& stop)
      : queue_(queue), work_(work), stop_(stop) {}

  // Any thread but the calling one: units until there are no more.
  void help(unsigned worker) noexcept {
    while (!halted() && !queue_.exhausted()) step(worker, kHelperPatience);
    const std::lock_guard lock(mutex_);
    left_.notify_all();  // the calling thread may be waiting for the last unit
  }

  // The calling thread: the same, with a tick in between.
  void lead(const std::function<void(std::uint64_t)>& tick) noexcept {
    while (!halted() && !queue_.exhausted()) {
      step(0, kLeaderPatience);
      call(tick);
    }
    queue_.halt();
    const std::uint64_t dealt = queue_.taken();
    std::unique_lock lock(mutex_);
    while (!left_.wait_for(lock, kTickInterval, [&] { return settled_.load() == dealt; })) {
      lock.unlock();
      call(tick);
      lock.lock();
    }
  }

  void call(const std::function<void(std::uint64_t)>& tick) noexcept {
    if (!tick || ticks_failed_) return;
    try {
      tick(finished_.load());
    } catch (...) {
      ticks_failed_ = true;
      keep_exception();
    }
  }

  // After the team has joined.
  bool result() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return complete_;
  }

 private:
  static constexpr std::chrono::milliseconds kHelperPatience{20};
  static constexpr std::chrono::milliseconds kLeaderPatience{1};

  void step(unsigned worker, std::chrono::milliseconds patience) noexcept {
    const std::optional<std::uint64_t> unit = queue_.take(patience);
    if (!unit) return;
    try {
      work_(worker, *unit);
      finished_.fetch_add(1);
    } catch (...) {
      keep_exception();
    }
    settled_.fetch_add(1);
  }
  [[nodiscard]] bool halted() noexcept {
    if (!stop_.load() && !failed_.load()) return false;
    if (!queue_.exhausted()) complete_ = false;
    queue_.halt();
    return true;
  }
  void keep_exception() noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_.store(true);
  }

  WorkQueue& queue_;
  const std::function<void(unsigned, std::uint64_t)>& work_;
  const std::atomic<bool>& stop_;
  std::atomic<std::uint64_t> settled_{0};  // finished or thrown
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> complete_{true};  // no unit was dropped
  bool ticks_failed_ = false;         // calling thread only
  std::mutex mutex_;
  std::condition_variable left_;
  std::exception_ptr error_;
};

}  // namespace

Executor::Executor(unsigned threads) : threads_(threads) {
  if (threads == 0 || threads > kMaxThreads) {
    fail(Errc::usage, "the number of threads must be 1 to " + std::to_string(kMaxThreads) +
                          ", not " + std::to_string(threads));
  }
  prove_threads(threads);
}

bool Executor::run(std::uint64_t units, const std::function<void(unsigned, std::uint64_t)>& work,
                   const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick) {
  WorkQueue queue(UnitRange{0, units});
  return run(queue, work, stop, tick);
}

bool Executor::run(WorkQueue& queue, const std::function<void(unsigned, std::uint64_t)>& work,
                   const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick) {
  Run run(queue, work, stop);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<unsigned> helpers{0};
  // No exception leaves the region: help(), lead() and call() keep them. The runtime may give
  // fewer threads than asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC); the queue does not mind.
#pragma omp parallel num_threads(threads_)
  {
    if (std::this_thread::get_id() == caller) {
      run.lead(tick);
    } else {
      run.help(1 + helpers.fetch_add(1));
    }
  }
  run.call(tick);  // the final count
  return run.result();
}

}  // namespace coppice
