// Runs independent units on the threads of this process. The only file with OpenMP besides aggregation.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "node/work_queue.hpp"

namespace coppice {

class Executor {
 public:
  explicit Executor(unsigned threads);
  [[nodiscard]] unsigned threads() const noexcept { return threads_; }

  // work(worker, unit) for every unit in [0, units), dynamically, worker in [0, threads). Returns false
  // when `stop` became true first: units not yet started are then skipped. The first exception of a
  // worker stops the rest and is thrown again here. `tick` (may be empty) is called only on the calling
  // thread, between its units and at least every 20 ms once it has none left, with the number of
  // finished units: progress and message polling belong there.
  bool run(std::uint64_t units, const std::function<void(unsigned, std::uint64_t)>& work,
           const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick = {});

  // The same for units from a queue that others, `tick` too, may add to until they close it. With
  // nothing to do the threads sleep; the calling one ticks every few milliseconds.
  bool run(WorkQueue& queue, const std::function<void(unsigned, std::uint64_t)>& work,
           const std::atomic<bool>& stop, const std::function<void(std::uint64_t)>& tick = {});

 private:
  unsigned threads_;
};

}  // namespace coppice
