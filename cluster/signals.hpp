// Stop signals: INT, TERM and USR1 ask for a clean stop with exit code 75.
#pragma once

#include <atomic>

namespace coppice {

void install_stop_signals();
[[nodiscard]] const std::atomic<bool>& stop_requested() noexcept;

// No core file may hold a seed. (PR_SET_DUMPABLE would break Open MPI's shared memory.)
void disable_core_dumps() noexcept;

}  // namespace coppice
