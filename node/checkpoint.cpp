// NAME.progress: finished units of a key that is still growing, so that a stopped run goes on. docs/formats.md.
#include "node/checkpoint.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/hash/sha256.hpp"
#include "node/atomic_file.hpp"

namespace coppice {
namespace {

constexpr std::string_view kMagic = "COPPICEP";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMac = 32;
constexpr std::size_t kHead = 64;
constexpr std::size_t kFramed = kHead + kMac;
constexpr std::size_t kAnySize = ~std::size_t{0};

Secret<32> derive_mac_key(const HssKeyFile& key) {
  Bytes label;
  append(label, as_bytes("coppice progress 1"));
  append(label, key.id);
  append(label, key.top.identifier);
  Secret<32> out;
  hmac_sha256(key.top.seed_view(), label, out.writable());
  return out;
}

std::string named(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

Bytes make_head(const HssKeyFile& key, const UnitPlan& plan) {
  const LmsPair& top = key.params.levels.front();
  Bytes head;
  append(head, as_bytes(kMagic));
  append_be32(head, kVersion);
  append_be32(head, top.lms->type);
  append_be32(head, top.ots->type);
  append_be32(head, plan.unit_height);
  append_be32(head, plan.cache_depth);
  append_be32(head, static_cast<std::uint32_t>(plan.record_bytes()));
  append(head, key.id);
  append(head, key.top.identifier);
  return head;
}

}  // namespace

Checkpoint::Checkpoint(std::filesystem::path path, const HssKeyFile& key)
    : path_(std::move(path)),
      what_("cannot keep progress in " + named(path_)),
      mac_key_(derive_mac_key(key)) {
  constexpr mode_t kSecretMode = 0600;
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kSecretMode);
  if (fd_ < 0) fail_errno(errno, what_);
  try {
    // A file system without locks has none to offer; the key file is written once all the same.
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      fail(Errc::unavailable, named(path_) + " is held by another run that grows this key; wait for "
                                             "it or stop it first");
    }
    file_ = read_file(path_, kAnySize);
    if (file_.size() >= kFramed) read_head(key);  // else it was killed while it made the file
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

// Magic, version and MAC. The unit height is the only thing that a file may decide.
void Checkpoint::read_head(const HssKeyFile& key) {
  const ByteView file(file_);
  const auto refuse = [&](const std::string& why) {
    fail(Errc::bad_data, named(path_) + " " + why +
                             "; remove it to grow the tree from its beginning");
  };
  if (!equal(file.first(kMagic.size()), as_bytes(kMagic))) refuse("is not a record of progress");
  if (const std::uint32_t version = load_be32(&file[8]); version != kVersion) {
    refuse("has format version " + std::to_string(version) + ", this program reads version 1");
  }
  mac(file.first(kHead), head_mac_);
  if (!equal(head_mac_, file.subspan(kHead, kMac))) refuse("belongs to another key or is damaged");
  unit_height_ = load_be32(&file[20]);
  if (*unit_height_ > key.params.levels.front().lms->h) refuse("has units higher than the tree");
}

void Checkpoint::begin(const HssKeyFile& key, const UnitPlan& plan, const Take& take) {
  plan_ = plan;
  Bytes head = make_head(key, plan);
  if (!unit_height_) {
    if (::ftruncate(fd_, 0) != 0) fail_errno(errno, what_);
    mac(head, head_mac_);
    pending_ = std::move(head);
    append(pending_, head_mac_);
    flush();
    sync_name(path_, what_);
  } else if (!equal(head, ByteView(file_).first(kHead))) {
    fail(Errc::bad_data, named(path_) + " was cut into other units; remove it to grow the tree from "
                                        "its beginning");
  } else {
    read_records(take);
  }
  file_ = {};
}

Checkpoint::~Checkpoint() {
  if (fd_ >= 0) ::close(fd_);
}

void Checkpoint::read_records(const Take& take) {
  const ByteView file(file_);
  const std::size_t record = plan_.record_bytes();
  const std::size_t size = 8 + record + kMac;
  Bytes data(head_mac_.begin(), head_mac_.end());
  std::array<std::uint8_t, kMac> sum{};
  std::size_t at = kFramed;
  for (; file.size() - at >= size; at += size) {
    data.resize(kMac);
    append(data, file.subspan(at, 8 + record));
    mac(data, sum);
    const std::uint64_t unit = load_be64(&file[at]);
    if (!equal(sum, file.subspan(at + 8 + record, kMac)) || unit >= plan_.units()) {
      ++damaged_;
      continue;
    }
    take(unit, file.subspan(at + 8, record));
  }
  if (at != file.size() && ::ftruncate(fd_, static_cast<off_t>(at)) != 0) {
    fail_errno(errno, what_);
  }
}

void Checkpoint::mac(ByteView data, ByteSpan out) const noexcept {
  hmac_sha256(mac_key_.bytes(), data, out);
}

void Checkpoint::add(std::uint64_t unit, ByteView record) {
  if (record.size() != plan_.record_bytes() || unit >= plan_.units()) {
    fail(Errc::internal, "a record of unit " + std::to_string(unit) + " has a wrong size");
  }
  Bytes data(head_mac_.begin(), head_mac_.end());
  append_be64(data, unit);
  append(data, record);
  std::array<std::uint8_t, kMac> sum{};
  mac(data, sum);
  append(pending_, ByteView(data).subspan(kMac));
  append(pending_, sum);
}

void Checkpoint::flush() {
  ByteView left = pending_;
  while (!left.empty()) {
    const ssize_t n = ::write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, what_);
    left = left.subspan(static_cast<std::size_t>(n));
  }
  if (!pending_.empty() && ::fdatasync(fd_) != 0) fail_errno(errno, what_);
  pending_.clear();
}

void Checkpoint::remove() {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
    fail_errno(errno, "cannot remove " + named(path_));
  }
}

}  // namespace coppice
