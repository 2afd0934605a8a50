// Stop signals: INT, TERM and USR1 ask for a clean stop with exit code 75.
#include "cluster/signals.hpp"

#include <sys/resource.h>

#include <csignal>

namespace coppice {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_signal(int) { stop.store(true, std::memory_order_relaxed); }

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) sigaction(number, &action, nullptr);
}

const std::atomic<bool>& stop_requested() noexcept { return stop; }

void disable_core_dumps() noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace coppice
