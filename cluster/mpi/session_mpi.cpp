// MPI behind Comm and Session: the only file that calls it. MPI-3.1, MPI_THREAD_FUNNELED.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <thread>

#include "cluster/mpi/session.hpp"
#include "core/base/checked_cast.hpp"

namespace coppice {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(Errc::internal, std::string(call) + ": " + text.data());
}

class MpiComm final : public Comm {
 public:
  MpiComm() {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  ~MpiComm() override { MPI_Comm_free(&comm_); }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  void broadcast(ByteSpan data) override {
    std::uint8_t* at = data.data();
    for (const std::size_t n : chunk_sizes(data.size())) {
      check(MPI_Bcast(at, checked_cast<int>(n), MPI_BYTE, 0, comm_), "MPI_Bcast");
      at += n;
    }
  }

  std::vector<Bytes> gather(ByteView mine) override {
    std::vector<Bytes> parts;
    std::uint64_t size = mine.size();
    std::vector<std::uint64_t> sizes(root() ? static_cast<std::size_t>(size_) : 0);
    check(MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, comm_), "MPI_Gather");
    if (!root()) {
      send(mine);
      return parts;
    }
    parts.resize(sizes.size());
    parts[0].assign(mine.begin(), mine.end());
    for (std::size_t r = 1; r < parts.size(); ++r) {
      parts[r].resize(checked_cast<std::size_t>(sizes[r]));
      receive(parts[r], checked_cast<int>(r));
    }
    return parts;
  }

  bool any(bool mine) override {
    const int in = mine ? 1 : 0;
    int out = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm_, &request), "MPI_Iallreduce");
    // MPI's own wait burns the core that a slower rank on this host may need.
    constexpr std::chrono::microseconds kSpin{200};
    constexpr std::chrono::milliseconds kNap{1};
    const auto start = std::chrono::steady_clock::now();
    for (int done = 0;;) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) return out != 0;
      if (std::chrono::steady_clock::now() - start > kSpin) std::this_thread::sleep_for(kNap);
    }
  }

  void post(int to, Bytes message) override {
    reap();
    Outgoing& out = outgoing_.emplace_back();  // a list: the bytes must not move while MPI reads them
    out.bytes = std::move(message);
    check(MPI_Isend(out.bytes.data(), checked_cast<int>(out.bytes.size()), MPI_BYTE, to, kMailTag,
                    comm_, &out.request),
          "MPI_Isend");
  }

  std::optional<Message> poll() override {
    reap();
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status{};
    check(MPI_Improbe(MPI_ANY_SOURCE, kMailTag, comm_, &there, &handle, &status), "MPI_Improbe");
    if (there == 0) return std::nullopt;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    Message message{status.MPI_SOURCE, Bytes(checked_cast<std::size_t>(size))};
    check(MPI_Mrecv(message.bytes.data(), size, MPI_BYTE, &handle, &status), "MPI_Mrecv");
    return message;
  }

  void flush() override {
    while (!outgoing_.empty()) {
      reap();
      if (!outgoing_.empty()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  [[noreturn]] void abort(int exit_code) noexcept override {
    MPI_Abort(comm_, exit_code);
    std::_Exit(exit_code);
  }

 private:
  static constexpr int kTag = 1;
  static constexpr int kMailTag = 2;

  struct Outgoing {
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // Lets go of messages that have left.
  void reap() {
    for (auto it = outgoing_.begin(); it != outgoing_.end();) {
      int done = 0;
      check(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      it = done != 0 ? outgoing_.erase(it) : std::next(it);
    }
  }

  void send(ByteView data) {
    const std::uint8_t* at = data.data();
    for (const std::size_t n : chunk_sizes(data.size())) {
      check(MPI_Send(at, checked_cast<int>(n), MPI_BYTE, 0, kTag, comm_), "MPI_Send");
      at += n;
    }
  }
  void receive(ByteSpan data, int from) {
    std::uint8_t* at = data.data();
    for (const std::size_t n : chunk_sizes(data.size())) {
      check(MPI_Recv(at, checked_cast<int>(n), MPI_BYTE, from, kTag, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
      at += n;
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::list<Outgoing> outgoing_;
};

}  // namespace

Session::Session(const Launch& launch) {
  if (!launch.problem.empty()) fail(Errc::usage, launch.problem);
  if (!launch.by_launcher) {
    comm_ = std::make_unique<SelfComm>();
    return;
  }
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  initialised_ = true;
  comm_ = std::make_unique<MpiComm>();
  if (provided < MPI_THREAD_FUNNELED) {
    fail(Errc::config, "the MPI library gives no MPI_THREAD_FUNNELED; use one built with threads");
  }
  if (comm_->size() != launch.size) {
    fail(Errc::config, "the launcher started " + std::to_string(launch.size) +
                           " processes but MPI sees " + std::to_string(comm_->size()) +
                           "; use the mpirun of the MPI library that this program was built with");
  }
}

Session::~Session() {
  comm_.reset();
  if (initialised_) MPI_Finalize();
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // allowed before MPI_Init
  std::string all(text.data());
  return all.substr(0, all.find(','));
}

}  // namespace coppice
