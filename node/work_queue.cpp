// Units waiting for the threads of one process; more may be added while they run.
#include "node/work_queue.hpp"

namespace coppice {

WorkQueue::WorkQueue(UnitRange all) {
  add(all);
  close();
}

void WorkQueue::add(UnitRange range) {
  if (range.size() == 0) return;
  const std::lock_guard lock(mutex_);
  if (halted_) return;
  ranges_.push_back(range);
  changed_.notify_all();
}

void WorkQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void WorkQueue::halt() {
  const std::lock_guard lock(mutex_);
  halted_ = true;
  ranges_.clear();
  changed_.notify_all();
}

std::uint64_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const UnitRange& range : ranges_) sum += range.size();
  return sum;
}

std::uint64_t WorkQueue::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

bool WorkQueue::exhausted() const {
  const std::lock_guard lock(mutex_);
  return over();
}

std::optional<std::uint64_t> WorkQueue::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return over() || !ranges_.empty(); });
  if (halted_ || ranges_.empty()) return std::nullopt;
  UnitRange& front = ranges_.front();
  const std::uint64_t unit = front.first++;
  if (front.size() == 0) ranges_.pop_front();
  ++taken_;
  if (over()) changed_.notify_all();  // those who wait need not wait on
  return unit;
}

}  // namespace coppice
