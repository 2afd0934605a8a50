// The control channel of one job: ranks ask rank 0 for units one ahead, return records, say that they live.
#include "cluster/mpi/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/base/checked_cast.hpp"

namespace coppice {
namespace {

// First byte of a message. To rank 0:
enum ToRoot : unsigned {
  kWant = 1,  // u64: units wanted
  kRecords,   // u64 unit, u64 size, record; again and again
  kBeat,      // alive
  kStop,      // a signal came
  kIdle,      // all records are sent, no more work here
  kLast,      // nothing follows
};
// From rank 0:
enum FromRoot : unsigned {
  kGrant = 65,  // u64 first, u64 last
  kClose,       // no more work
  kHalt,        // stop
  kEcho,        // answer to a beat
  kEnd,         // every record has come; answered by kLast
};

constexpr std::chrono::milliseconds kNap{1};

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

ControlChannel::ControlChannel(Comm& comm, WorkQueue& queue, unsigned threads,
                               const std::atomic<bool>& stop_wanted, Coordination* coordination,
                               ControlTimes times)
    : comm_(comm),
      queue_(queue),
      threads_(threads),
      stop_wanted_(stop_wanted),
      coordination_(coordination),
      times_(times) {
  const auto now = Clock::now();
  last_beat_ = root_heard_ = last_tick_ = now;
  if (coordination_ != nullptr) {
    peers_.resize(static_cast<std::size_t>(comm.size()));
    for (Peer& peer : peers_) peer.heard = now;
  }
}

void ControlChannel::done(std::uint64_t unit, ByteView record) {
  const std::lock_guard lock(mutex_);
  append_be64(records_, unit);
  append_be64(records_, record.size());
  append(records_, record);
  own_units_.fetch_add(1);
}

void ControlChannel::tick() {
  receive();
  const auto now = Clock::now();
  if (!ended_) {  // kLast is the last message of a rank
    if (stop_wanted_.load() && !stop_told_) {
      stop_told_ = true;
      post(0, kStop);
      stopping_.store(true);
    }
    send_records();
    ask_for_work();
    beat(now);
  }
  watch(now);
  last_tick_ = now;
  if (coordination_ != nullptr && coordination_->idle) coordination_->idle();
}

void ControlChannel::finish() {
  send_records();
  post(0, kIdle);
  asked_ = true;  // asks no more
  const auto over = [&] {
    if (coordination_ == nullptr) return ended_;
    return std::ranges::all_of(peers_, [](const Peer& peer) { return peer.gone; });
  };
  while (!over()) {
    tick();
    if (!over()) std::this_thread::sleep_for(kNap);
  }
  comm_.flush();
}

void ControlChannel::receive() {
  while (auto message = comm_.poll()) {
    if (message->bytes.empty()) fail(Errc::internal, "an empty message on the control channel");
    const unsigned kind = message->bytes.front();
    Reader in(ByteView(message->bytes).subspan(1), "a message on the control channel");
    if (kind >= kGrant) {
      from_root(in, kind);
    } else if (coordination_ != nullptr) {
      from_member(message->from, in, kind);
    } else {
      fail(Errc::internal, "a message for rank 0 came to another rank");
    }
  }
}

void ControlChannel::from_member(int from, Reader& in, unsigned kind) {
  Peer& peer = peers_.at(static_cast<std::size_t>(from));
  peer.heard = Clock::now();
  switch (kind) {
    case kWant:
      give(from, in.u64());
      break;
    case kRecords:
      while (in.remaining() > 0) {
        const std::uint64_t unit = in.u64();
        coordination_->take(unit, in.take(checked_cast<std::size_t>(in.u64())));
        peer.last_unit = unit;
        ++peer.units;
      }
      break;
    case kBeat:
      if (!end_sent_) post(from, kEcho);
      break;
    case kStop:
      stop_all();
      break;
    case kIdle:
      peer.without_work = true;
      if (!end_sent_ &&
          std::ranges::all_of(peers_, [](const Peer& p) { return p.without_work; })) {
        end_sent_ = true;
        for (int r = 0; r < comm_.size(); ++r) post(r, kEnd);
      }
      break;
    case kLast:
      peer.gone = true;
      break;
    default:
      fail(Errc::internal, fmt::format("rank {} sent a message of unknown kind {}", from, kind));
  }
}

void ControlChannel::from_root(Reader& in, unsigned kind) {
  root_heard_ = Clock::now();
  switch (kind) {
    case kGrant: {
      const std::uint64_t first = in.u64();
      queue_.add({first, in.u64()});
      asked_ = false;
      break;
    }
    case kClose:
      queue_.close();  // asked_ stays: nothing more will come
      break;
    case kHalt:
      stopping_.store(true);
      break;
    case kEcho:
      break;
    case kEnd:
      post(0, kLast);
      ended_ = true;
      break;
    default:
      fail(Errc::internal, fmt::format("rank 0 sent a message of unknown kind {}", kind));
  }
}

void ControlChannel::give(int to, std::uint64_t count) {
  std::vector<UnitRange>& todo = coordination_->todo;
  while (next_range_ < todo.size() && todo[next_range_].size() == 0) ++next_range_;
  if (stopping_.load() || next_range_ == todo.size()) {
    post(to, kClose);
    return;
  }
  UnitRange& range = todo[next_range_];
  const std::uint64_t first = range.first;
  range.first += std::clamp<std::uint64_t>(count, 1, range.size());
  post(to, kGrant, {first, range.first});
}

void ControlChannel::stop_all() {
  if (halt_sent_ || end_sent_) return;  // kEnd is the last message to a rank
  halt_sent_ = true;
  stopping_.store(true);
  for (int r = 1; r < comm_.size(); ++r) post(r, kHalt);
}

void ControlChannel::send_records() {
  Bytes message;
  {
    const std::lock_guard lock(mutex_);
    if (records_.empty()) return;
    message.reserve(1 + records_.size());
    message.push_back(kRecords);
    append(message, records_);
    records_.clear();
  }
  comm_.post(0, std::move(message));
}

// One round of units ahead, so that no thread waits for an answer.
void ControlChannel::ask_for_work() {
  if (asked_ || stopping_.load() || queue_.waiting() >= threads_) return;
  asked_ = true;
  post(0, kWant, {threads_});
}

void ControlChannel::beat(Clock::time_point now) {
  if (now - last_beat_ < times_.beat) return;
  last_beat_ = now;
  post(0, kBeat);
}

void ControlChannel::watch(Clock::time_point now) {
  if (times_.silence.count() == 0) return;
  // A whole job may be suspended and resumed: who was away cannot blame the others.
  if (now - last_tick_ > times_.silence / 4) {
    root_heard_ = now;
    for (Peer& peer : peers_) peer.heard = now;
    return;
  }
  for (std::size_t r = 1; r < peers_.size(); ++r) {
    const Peer& peer = peers_[r];
    if (peer.gone || now - peer.heard < times_.silence) continue;
    const std::string last = peer.units == 0 ? "it has finished no unit"
                                             : fmt::format("its last unit was {}", peer.last_unit);
    fail(Errc::unavailable,
         fmt::format("rank {} on {} has said nothing for {:.1f} s while {}; {}. Look at that host, then "
                     "continue with --resume",
                     r, coordination_->hosts.at(r), seconds(times_.silence),
                     peer.without_work ? "waiting for the others" : "growing units", last));
  }
  if (coordination_ == nullptr && !ended_ && now - root_heard_ > times_.patience()) {
    fail(Errc::unavailable, fmt::format("rank 0 has said nothing for {:.1f} s; look at its host, then "
                                        "continue with --resume",
                                        seconds(times_.patience())));
  }
}

void ControlChannel::post(int to, unsigned kind, std::initializer_list<std::uint64_t> numbers) {
  Bytes message;
  message.push_back(static_cast<std::uint8_t>(kind));
  for (const std::uint64_t number : numbers) append_be64(message, number);
  comm_.post(to, std::move(message));
}

}  // namespace coppice
