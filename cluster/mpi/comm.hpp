// What algorithms see of message passing: bytes between ranks, nothing of MPI.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/bytes.hpp"

namespace coppice {

// One message of MPI carries at most this much: its counts are int, and sums over ranks must fit too.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 28;

// Sizes of the pieces in which `total` bytes travel; empty for 0.
[[nodiscard]] std::vector<std::size_t> chunk_sizes(std::uint64_t total, std::size_t limit = kChunkBytes);

// All calls are collective and made by the main thread alone (MPI_THREAD_FUNNELED). An error of the
// transport is Errc::internal with MPI's own text.
class Comm {
 public:
  virtual ~Comm() = default;
  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  [[nodiscard]] bool root() const noexcept { return rank() == 0; }

  // Rank 0's bytes reach all ranks; `data` has the same size everywhere.
  virtual void broadcast(ByteSpan data) = 0;
  // Every rank's bytes, by rank, on rank 0; empty elsewhere. Sizes may differ.
  [[nodiscard]] virtual std::vector<Bytes> gather(ByteView mine) = 0;
  // True on all ranks when it is true on one. Sleeps between polls: a waiting rank costs no core.
  [[nodiscard]] virtual bool any(bool mine) = 0;
  // Point to point, beside the collectives: a message to one rank (itself too), kept until it is on its
  // way; order holds between two ranks. Any size that memory holds.
  virtual void post(int to, Bytes message) = 0;
  struct Message {
    int from = 0;
    Bytes bytes;
  };
  // The next message that has come, from any rank; never waits.
  [[nodiscard]] virtual std::optional<Message> poll() = 0;
  // Waits until every posted message has left. The receivers must be polling.
  virtual void flush() = 0;

  // Ends every rank with this exit code; never returns.
  [[noreturn]] virtual void abort(int exit_code) noexcept = 0;

  // Rank 0's variable-length bytes on all ranks.
  void broadcast_bytes(Bytes& data);
  // gather() with the result on all ranks.
  [[nodiscard]] std::vector<Bytes> all_gather(ByteView mine);
};

// One rank without MPI: a plain start.
class SelfComm final : public Comm {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  void broadcast(ByteSpan) override {}
  [[nodiscard]] std::vector<Bytes> gather(ByteView mine) override {
    return {Bytes(mine.begin(), mine.end())};
  }
  [[nodiscard]] bool any(bool mine) override { return mine; }
  void post(int to, Bytes message) override;
  [[nodiscard]] std::optional<Message> poll() override;
  void flush() override {}
  [[noreturn]] void abort(int exit_code) noexcept override;

 private:
  std::deque<Bytes> mail_;
};

}  // namespace coppice
