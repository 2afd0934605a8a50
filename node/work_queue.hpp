// Units waiting for the threads of one process; more may be added while they run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

namespace coppice {

struct UnitRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // half-open
  [[nodiscard]] std::uint64_t size() const noexcept { return last - first; }
  bool operator==(const UnitRange&) const = default;
};

// All functions may be called by any thread. Units leave in the order of the ranges.
class WorkQueue {
 public:
  WorkQueue() = default;
  explicit WorkQueue(UnitRange all);  // this range and nothing more

  void add(UnitRange range);
  void close();  // nothing more will be added
  void halt();   // what waits, or is still to come, is dropped

  [[nodiscard]] std::uint64_t waiting() const;
  [[nodiscard]] std::uint64_t taken() const;
  [[nodiscard]] bool exhausted() const;  // closed and empty, or halted

  // The next unit; waits for one at most `patience`. Nothing when there is none, exhausted() or not.
  [[nodiscard]] std::optional<std::uint64_t> take(std::chrono::milliseconds patience);

 private:
  [[nodiscard]] bool over() const noexcept { return halted_ || (closed_ && ranges_.empty()); }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<UnitRange> ranges_;  // none of them empty
  std::uint64_t taken_ = 0;
  bool closed_ = false;
  bool halted_ = false;
};

}  // namespace coppice
