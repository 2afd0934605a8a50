// Progress on stderr: one redrawn line on a terminal, plain lines at least 30 s apart elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace coppice {

// automatic: short jobs stay silent off the terminal; always: a line there at the first update.
enum class ProgressMode { automatic, always, never };

// `total` work items; the first line appears within 2 s. Rate and remaining time come from the work
// done so far, without what was done before the start (a resumed job). On a terminal at most 4
// redraws per second; elsewhere no '\r' and no escape codes. One thread calls it.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total, ProgressMode mode, bool is_terminal,
           std::function<void(const std::string&)> write = {},  // default: one write(2) to stderr
           std::string unit = "leaves");
  ~Progress();  // ends the redrawn line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::uint64_t done);
  void update_at(std::uint64_t done, std::chrono::steady_clock::time_point now);  // for tests

 private:
  [[nodiscard]] bool due(std::uint64_t done, std::chrono::steady_clock::time_point now) const;
  // `fresh` items were done in the last `seconds`.
  [[nodiscard]] std::string line(std::uint64_t done, std::uint64_t fresh, double seconds) const;
  std::string what_;
  std::string unit_;
  std::uint64_t total_;
  ProgressMode mode_;
  bool terminal_;
  std::function<void(const std::string&)> write_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_{};
  std::uint64_t before_ = 0;  // done when the job started
  bool updated_ = false;
  bool drawn_ = false;
  bool ended_ = false;  // the line of 100 % is out
};

}  // namespace coppice
