// The control channel of one job: ranks ask rank 0 for units one ahead, return records, say that they live.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/mpi/comm.hpp"
#include "node/work_queue.hpp"

namespace coppice {

// What rank 0 brings: the work, and where its results go.
struct Coordination {
  std::vector<UnitRange> todo;
  std::vector<std::string> hosts;  // by rank, for messages
  std::function<void(std::uint64_t unit, ByteView record)> take;
  std::function<void()> idle;  // called at every tick: progress, flushing
};

struct ControlTimes {
  std::chrono::milliseconds beat{500};      // a rank says that it lives
  std::chrono::milliseconds silence{4000};  // rank 0 gives up on a silent rank; 0: never
  // A rank gives up on rank 0, which may sit in a slow fsync for a while.
  [[nodiscard]] std::chrono::milliseconds patience() const { return 5 * silence; }
};

// Made on every rank, `coordination` on rank 0 alone. All calls but done() come from the main thread.
// Messages from a to b keep their order, and each side has a last one, so nothing of one channel is
// left for the next.
class ControlChannel {
 public:
  ControlChannel(Comm& comm, WorkQueue& queue, unsigned threads, const std::atomic<bool>& stop_wanted,
                 Coordination* coordination, ControlTimes times = {});

  // A unit of this rank is finished; any thread.
  void done(std::uint64_t unit, ByteView record);
  // Looks after messages; at least every few milliseconds while this rank works. Throws what has gone
  // wrong: a silent rank (Errc::unavailable, naming rank, host and last unit), a failed transport.
  void tick();
  // This rank has no more work: returns when all ranks have none and rank 0 has every record.
  void finish();

  // True once any rank asked for a stop; what is being computed may be finished.
  [[nodiscard]] const std::atomic<bool>& stopping() const noexcept { return stopping_; }
  [[nodiscard]] std::uint64_t own_units() const noexcept { return own_units_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    Clock::time_point heard;
    std::uint64_t last_unit = ~std::uint64_t{0};
    std::uint64_t units = 0;
    bool without_work = false;
    bool gone = false;
  };

  void receive();
  void from_member(int from, Reader& in, unsigned kind);
  void from_root(Reader& in, unsigned kind);
  void give(int to, std::uint64_t count);
  void stop_all();
  void send_records();
  void ask_for_work();
  void beat(Clock::time_point now);
  void watch(Clock::time_point now);
  void post(int to, unsigned kind, std::initializer_list<std::uint64_t> numbers = {});

  Comm& comm_;
  WorkQueue& queue_;
  std::uint64_t threads_;
  const std::atomic<bool>& stop_wanted_;
  Coordination* coordination_;
  ControlTimes times_;

  std::mutex mutex_;
  Bytes records_;  // u64 unit, u64 size, record; not yet sent
  std::atomic<std::uint64_t> own_units_{0};
  std::atomic<bool> stopping_{false};
  bool asked_ = false;      // for work, without an answer so far
  bool stop_told_ = false;  // to rank 0
  bool ended_ = false;      // rank 0's last message has come
  Clock::time_point last_beat_{};
  Clock::time_point root_heard_{};
  Clock::time_point last_tick_{};

  // Rank 0.
  std::vector<Peer> peers_;
  std::size_t next_range_ = 0;  // of coordination_->todo
  bool halt_sent_ = false;
  bool end_sent_ = false;
};

}  // namespace coppice
