// What algorithms see of message passing: bytes between ranks, nothing of MPI.
#include "cluster/mpi/comm.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/base/checked_cast.hpp"

namespace coppice {

std::vector<std::size_t> chunk_sizes(std::uint64_t total, std::size_t limit) {
  std::vector<std::size_t> sizes;
  for (std::uint64_t left = total; left > 0; left -= sizes.back()) {
    sizes.push_back(checked_cast<std::size_t>(std::min<std::uint64_t>(left, limit)));
  }
  return sizes;
}

void Comm::broadcast_bytes(Bytes& data) {
  std::array<std::uint8_t, 8> size{};
  if (root()) store_be64(size.data(), data.size());
  broadcast(size);
  data.resize(checked_cast<std::size_t>(load_be64(size.data())));
  broadcast(data);
}

std::vector<Bytes> Comm::all_gather(ByteView mine) {
  std::vector<Bytes> parts = gather(mine);
  Bytes packed;
  for (const Bytes& part : parts) {
    append_be64(packed, part.size());
    append(packed, part);
  }
  broadcast_bytes(packed);
  Reader in(packed, "gathered data");
  parts.clear();
  while (in.remaining() > 0) {
    const ByteView part = in.take(checked_cast<std::size_t>(in.u64()));
    parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

void SelfComm::post(int to, Bytes message) {
  if (to != 0) fail(Errc::internal, "there is no rank " + std::to_string(to));
  mail_.push_back(std::move(message));
}

std::optional<Comm::Message> SelfComm::poll() {
  if (mail_.empty()) return std::nullopt;
  Message message{0, std::move(mail_.front())};
  mail_.pop_front();
  return message;
}

void SelfComm::abort(int exit_code) noexcept { std::_Exit(exit_code); }

}  // namespace coppice
