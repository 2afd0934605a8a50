// Progress lines: percentage, count, rate, remaining time.
#include "node/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace coppice {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedraw = std::chrono::milliseconds(350);  // with the last one at most 4 in a second
constexpr auto kFirstLine = std::chrono::milliseconds(1000);  // callers update many times a second
constexpr auto kNextLine = std::chrono::seconds(30);

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string time_text(double seconds) {
  if (seconds < 120) return printed("%.0f s", seconds);
  if (seconds < 120 * 60) return printed("%.0f min", seconds / 60);
  return printed("%.1f h", seconds / 3600);
}

void write_to_stderr(const std::string& text) {
  // One write: lines of several processes do not mix. A closed stderr is no reason to fail.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total, ProgressMode mode, bool is_terminal,
                   std::function<void(const std::string&)> write, std::string unit)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      mode_(mode),
      terminal_(is_terminal),
      write_(write ? std::move(write) : write_to_stderr),
      start_(Clock::now()) {}

Progress::~Progress() {
  if (!drawn_ || !terminal_) return;
  try {
    write_("\n");
  } catch (...) {  // a line that does not end is the lesser evil
  }
}

void Progress::update(std::uint64_t done) {
  if (mode_ != ProgressMode::never) update_at(done, Clock::now());
}

bool Progress::due(std::uint64_t done, Clock::time_point now) const {
  if (mode_ == ProgressMode::never || ended_) return false;
  if (terminal_) return !drawn_ || now - last_ >= kRedraw || done >= total_;
  if (drawn_) return now - last_ >= kNextLine;
  return mode_ == ProgressMode::always || now - start_ >= kFirstLine;
}

void Progress::update_at(std::uint64_t done, Clock::time_point now) {
  done = std::min(done, total_);
  if (!updated_) {
    updated_ = true;
    // A resumed job starts with work done; one that reports late has done it itself.
    if (now - start_ < kFirstLine) {
      before_ = done;
      start_ = std::max(start_, now);
    }
  }
  if (!due(done, now)) return;
  const std::string text = line(done, done - std::min(before_, done), seconds_between(start_, now));
  write_(terminal_ ? "\r" + text + "\x1b[K" : text + "\n");
  last_ = now;
  drawn_ = true;
  ended_ = done >= total_;
}

std::string Progress::line(std::uint64_t done, std::uint64_t fresh, double seconds) const {
  const double share = total_ == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total_);
  // Rounded down: 100.0 % is said only of a finished job.
  std::string text = what_ + ": " + printed("%.1f", std::floor(share * 1000) / 10) + " %  " +
                     std::to_string(done) + "/" + std::to_string(total_) + " " + unit_;
  if (fresh == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(fresh) / seconds;
  text += "  " + printed(rate < 10 ? "%.2f " : "%.0f ", rate) + unit_ + "/s";
  if (done < total_) return text + "  ETA " + time_text(static_cast<double>(total_ - done) / rate);
  return text + "  in " + time_text(seconds);
}

}  // namespace coppice
