// NAME.progress: what was flushed comes back, of this key and this cut alone; crashes and damage cost records only.
#include "node/checkpoint.hpp"

#include <fcntl.h>

#include <map>
#include <optional>

#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;

class CheckpointTest : public testing::Test {
 protected:
  static HssKeyFile make_key(std::uint8_t seed = 1) {
    HssKeyFile key;
    key.params = parse_hss_params("10/8");
    key.cache_depth = 4;
    key.top.seed_bytes = 32;
    key.top.seed.writable()[0] = seed;
    key.top.identifier.fill(7);
    key.id.fill(9);
    return key;
  }
  using Records = std::map<std::uint64_t, Bytes>;

  static UnitPlan plan_of(unsigned unit_height) { return {10, unit_height, 4, 32}; }
  static Bytes record(const UnitPlan& plan, std::uint64_t unit) {
    return Bytes(plan.record_bytes(), static_cast<std::uint8_t>(unit + 1));
  }
  // Opens, and returns what was there.
  Records open(const UnitPlan& plan, const HssKeyFile& key, std::uint64_t* damaged = nullptr) const {
    Records found;
    Checkpoint checkpoint(path_, key);
    checkpoint.begin(key, plan, [&](std::uint64_t unit, ByteView bytes) {
      found[unit].assign(bytes.begin(), bytes.end());
    });
    if (damaged != nullptr) *damaged = checkpoint.damaged();
    return found;
  }
  void write(const UnitPlan& plan, const HssKeyFile& key, std::uint64_t first, std::uint64_t last) const {
    Checkpoint checkpoint(path_, key);
    checkpoint.begin(key, plan, [](std::uint64_t, ByteView) {});
    for (std::uint64_t u = first; u < last; ++u) checkpoint.add(u, record(plan, u));
    checkpoint.flush();
  }

  TempFolder folder_;
  fs::path path_ = folder_.path() / "key.progress";
  HssKeyFile key_ = make_key();
  UnitPlan plan_ = plan_of(5);
};

TEST_F(CheckpointTest, WhatWasFlushedComesBack) {
  EXPECT_EQ(Checkpoint(path_, key_).unit_height(), std::nullopt);
  write(plan_, key_, 0, 5);
  EXPECT_EQ(mode_of(path_), 0600U);
  write(plan_, key_, 5, 9);
  EXPECT_EQ(Checkpoint(path_, key_).unit_height(), 5U);
  const Records found = open(plan_, key_);
  ASSERT_EQ(found.size(), 9U);
  for (const auto& [unit, bytes] : found) EXPECT_EQ(bytes, record(plan_, unit));
}

TEST_F(CheckpointTest, WhatWasNotFlushedIsNotThere) {
  {
    Checkpoint checkpoint(path_, key_);
    checkpoint.begin(key_, plan_, [](std::uint64_t, ByteView) {});
    checkpoint.add(0, record(plan_, 0));
  }
  EXPECT_TRUE(open(plan_, key_).empty());
}

TEST_F(CheckpointTest, CutOffAnywhereKeepsWholeRecords) {
  write(plan_, key_, 0, 3);
  const Bytes whole = get(path_);
  const std::size_t head = 96;
  const std::size_t size = 8 + plan_.record_bytes() + 32;
  ASSERT_EQ(whole.size(), head + 3 * size);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    put(path_, ByteView(whole).first(length));
    const std::size_t kept = length < head ? 0 : (length - head) / size;
    ASSERT_EQ(open(plan_, key_).size(), kept) << length;
    // The next record follows the last whole one.
    write(plan_, key_, 7, 8);
    Records found = open(plan_, key_);
    ASSERT_EQ(found.size(), kept + 1) << length;
    ASSERT_EQ(found[7], record(plan_, 7));
  }
}

TEST_F(CheckpointTest, NoChangedByteGetsIn) {
  write(plan_, key_, 0, 2);
  const Bytes whole = get(path_);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes bad = whole;
    bad[i] ^= 0x04;
    put(path_, bad);
    if (i < 96) {
      error_of(Errc::bad_data, [&] { (void)open(plan_, key_); });
      error_of(Errc::bad_data, [&] { const Checkpoint refused(path_, key_); });
      continue;
    }
    std::uint64_t damaged = 0;
    const Records found = open(plan_, key_, &damaged);
    ASSERT_EQ(damaged, 1U) << i;
    ASSERT_EQ(found.size(), 1U) << i;
    ASSERT_EQ(found.begin()->second, record(plan_, found.begin()->first)) << i;
  }
}

TEST_F(CheckpointTest, BelongsToOneKeyAndOneCut) {
  write(plan_, key_, 0, 2);
  const Bytes whole = get(path_);
  HssKeyFile other = make_key(2);
  const auto refused = [&](const HssKeyFile& key, const UnitPlan& plan) {
    const std::string what = error_of(Errc::bad_data, [&] { (void)open(plan, key); });
    EXPECT_TRUE(contains(what, "key.progress")) << what;
    EXPECT_EQ(get(path_), whole);
  };
  refused(other, plan_);
  other = make_key();
  other.id[3] ^= 1;
  refused(other, plan_);
  other = make_key();
  other.top.identifier[3] ^= 1;
  refused(other, plan_);
  refused(key_, plan_of(4));
  refused(key_, {10, 5, 6, 32});
  // A record of another cut of the same key, as long as ours, does not fit under our head.
  fs::remove(path_);
  write(plan_of(4), key_, 0, 1);
  const Bytes foreign = get(path_);
  fs::remove(path_);
  write(plan_, key_, 0, 0);
  Bytes mixed = get(path_);
  append(mixed, ByteView(foreign).subspan(96));
  put(path_, mixed);
  std::uint64_t damaged = 0;
  EXPECT_TRUE(open(plan_, key_, &damaged).empty());
  EXPECT_EQ(damaged, 1U);
}

TEST_F(CheckpointTest, OneRunAtATime) {
  const Checkpoint first(path_, key_);
  const std::string what = error_of(Errc::unavailable, [&] { (void)open(plan_, key_); });
  EXPECT_TRUE(contains(what, "another run")) << what;
}

TEST_F(CheckpointTest, WrongRecordsAreRefused) {
  Checkpoint checkpoint(path_, key_);
  checkpoint.begin(key_, plan_, [](std::uint64_t, ByteView) {});
  error_of(Errc::internal, [&] { checkpoint.add(32, record(plan_, 0)); });
  error_of(Errc::internal, [&] { checkpoint.add(0, {}); });
  checkpoint.remove();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(CheckpointTest, NoLinkIsFollowed) {
  put(folder_.path() / "target", "precious");
  fs::create_symlink("target", path_);
  EXPECT_THROW((void)open(plan_, key_), Error);
  EXPECT_EQ(get(folder_.path() / "target").size(), 8U);
}

}  // namespace
}  // namespace coppice
