// Cycle counts without hardware counters: the core's clock from a chain of known latency.
#include "cluster/cli/cycles.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace coppice {

double core_gigahertz() noexcept {
#if defined(__x86_64__)
  constexpr int kLinks = 20000;
  constexpr double kLatency = 3;
  double best = 1e18;
  std::uint64_t x = 3;
  // About 20 us a run: short enough that most runs are not disturbed; the fastest counts.
  for (int run = 0; run < 50; ++run) {
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < kLinks; i += 8) {
      __asm__ volatile(
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
          : "+r"(x)::"cc");
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - before;
    best = std::min(best, spent.count());
  }
  return kLatency * kLinks / best;
#else
  return 0;
#endif
}

}  // namespace coppice
