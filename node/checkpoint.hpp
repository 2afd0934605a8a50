// NAME.progress: finished units of a key that is still growing, so that a stopped run goes on. docs/formats.md.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/secret.hpp"
#include "node/key_file.hpp"
#include "node/tree_job.hpp"

namespace coppice {

// An append-only file of records, each under a MAC whose key comes from the seed: nodes of another
// key, or altered ones, never enter a tree. Locked: two runs cannot grow one key. Not thread-safe.
class Checkpoint {
 public:
  using Take = std::function<void(std::uint64_t unit, ByteView record)>;

  // Opens the file of `key`, or makes it (0600), and holds it: Errc::unavailable when another process
  // does. Errc::bad_data for a file of another key, seed or version.
  Checkpoint(std::filesystem::path path, const HssKeyFile& key);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // How the run that made the file has cut the tree; nothing in a new file.
  [[nodiscard]] std::optional<unsigned> unit_height() const noexcept { return unit_height_; }
  // Once, before add(), for the same key: hands each sound record that is there to `take`. What a crash left at the end,
  // and damaged records, are left out. Errc::bad_data when the tree was cut in another way.
  void begin(const HssKeyFile& key, const UnitPlan& plan, const Take& take);

  // Keeps a record in memory; flush() makes all of them durable. Errc::io, permission.
  void add(std::uint64_t unit, ByteView record);
  void flush();
  // The key is complete: nothing of the file is needed any more.
  void remove();

  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }  // records left out

 private:
  using HeadMac = std::array<std::uint8_t, 32>;

  void open_file();
  void read_head(const HssKeyFile& key);
  void read_records(const Take& take);
  void mac(ByteView data, ByteSpan out) const noexcept;

  std::filesystem::path path_;
  std::string what_;  // the start of an error's text
  UnitPlan plan_;
  Bytes file_;  // what was there, until begin()
  std::optional<unsigned> unit_height_;
  Secret<32> mac_key_;
  HeadMac head_mac_{};  // in the MAC of every record: ties it to the way the tree was cut
  int fd_ = -1;
  Bytes pending_;
  std::uint64_t damaged_ = 0;
};

}  // namespace coppice
