// Several ranks in one process, one thread each: collectives over shared memory, for tests.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cluster/mpi/comm.hpp"

namespace coppice::test {

// What the ranks share.
class World {
 public:
  explicit World(int size)
      : size_(size),
        barrier_(size),
        parts_(static_cast<std::size_t>(size)),
        mail_(static_cast<std::size_t>(size)) {}

  // Runs one function per rank and returns what each of them threw (or nothing).
  std::vector<std::exception_ptr> run(const std::function<void(Comm&)>& rank_main);

 private:
  friend class ThreadComm;
  int size_;
  std::barrier<> barrier_;
  std::vector<Bytes> parts_;
  Bytes broadcast_;
  std::atomic<int> yes_{0};
  std::mutex mail_mutex_;
  std::vector<std::deque<Comm::Message>> mail_;
};

class ThreadComm final : public Comm {
 public:
  ThreadComm(World& world, int rank) : world_(world), rank_(rank) {}
  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return world_.size_; }

  void broadcast(ByteSpan data) override {
    if (root()) world_.broadcast_.assign(data.begin(), data.end());
    wait();
    if (world_.broadcast_.size() != data.size()) {
      ADD_FAILURE() << "rank " << rank_ << " expects a broadcast of " << data.size()
                    << " bytes, rank 0 sends " << world_.broadcast_.size();
    } else if (!root()) {
      std::copy(world_.broadcast_.begin(), world_.broadcast_.end(), data.begin());
    }
    wait();
  }

  [[nodiscard]] std::vector<Bytes> gather(ByteView mine) override {
    world_.parts_[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    wait();
    std::vector<Bytes> all;
    if (root()) all = world_.parts_;
    wait();
    return all;
  }

  [[nodiscard]] bool any(bool mine) override {
    if (mine) world_.yes_.fetch_add(1);
    wait();
    const bool result = world_.yes_.load() > 0;
    wait();
    if (root()) world_.yes_.store(0);
    wait();
    return result;
  }

  void post(int to, Bytes message) override {
    const std::lock_guard lock(world_.mail_mutex_);
    world_.mail_[static_cast<std::size_t>(to)].push_back({rank_, std::move(message)});
  }
  [[nodiscard]] std::optional<Message> poll() override {
    const std::lock_guard lock(world_.mail_mutex_);
    auto& box = world_.mail_[static_cast<std::size_t>(rank_)];
    if (box.empty()) return std::nullopt;
    Message message = std::move(box.front());
    box.pop_front();
    return message;
  }
  void flush() override {}

  [[noreturn]] void abort(int) noexcept override { std::terminate(); }

 private:
  void wait() { world_.barrier_.arrive_and_wait(); }
  World& world_;
  int rank_;
};

inline std::vector<std::exception_ptr> World::run(const std::function<void(Comm&)>& rank_main) {
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size_));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size_; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadComm comm(*this, rank);
      try {
        rank_main(comm);
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
      }
      barrier_.arrive_and_drop();  // a rank that has left holds no other one up
    });
  }
  for (std::thread& t : threads) t.join();
  return thrown;
}

}  // namespace coppice::test
