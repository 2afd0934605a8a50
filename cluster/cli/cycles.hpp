// Cycle counts without hardware counters: the core's clock from a chain of known latency.
#pragma once

namespace coppice {

// Core clock in cycles per nanosecond, measured now: dependent 64-bit multiplications take 3 cycles
// each on every x86-64 core of the last decade. 0 where that is not known (other architectures).
[[nodiscard]] double core_gigahertz() noexcept;

}  // namespace coppice
