// Progress on stderr: one redrawn line on a terminal, plain lines at least 30 s apart elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace coppice {

enum class ProgressMode { automatic, always, never };

// `total` work items; the first line appears within 2 s. Rate and remaining time come from the work
// done so far. On a terminal at most 4 redraws per second; elsewhere no '\r' and no escape codes.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total, ProgressMode mode, bool is_terminal,
           std::function<void(const std::string&)> write = {});  // default: one write(2) to stderr
  ~Progress();  // ends the redrawn line
  void update(std::uint64_t done);
  void update_at(std::uint64_t done, std::chrono::steady_clock::time_point now);  // for tests

 private:
  [[nodiscard]] std::string line(std::uint64_t done, double seconds) const;
  std::string what_;
  std::uint64_t total_;
  bool enabled_;
  bool terminal_;
  std::function<void(const std::string&)> write_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_{};
  bool drawn_ = false;
};

}  // namespace coppice
