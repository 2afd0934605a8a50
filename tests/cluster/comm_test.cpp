// Chunks of large transfers, and the collectives that are built on others.
#include "cluster/mpi/comm.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <numeric>

#include "tests/cluster/thread_comm.hpp"

namespace coppice {
namespace {

using test::World;

std::uint64_t sum(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

TEST(Chunks, PastTwoGibibytes) {
  // Sizes only: nothing of this length is allocated.
  for (const std::uint64_t total :
       {std::uint64_t{INT_MAX}, std::uint64_t{INT_MAX} + 1, std::uint64_t{3} << 30,
        (std::uint64_t{3} << 30) + 1, std::uint64_t{UINT_MAX} + 7, std::uint64_t{1} << 42}) {
    const std::vector<std::size_t> sizes = chunk_sizes(total);
    EXPECT_EQ(sum(sizes), total);
    EXPECT_EQ(sizes.size(), (total + kChunkBytes - 1) / kChunkBytes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_GT(sizes[i], 0U);
      ASSERT_LE(sizes[i], kChunkBytes);
      ASSERT_TRUE(i + 1 == sizes.size() || sizes[i] == kChunkBytes);
    }
  }
  // Sums over some ranks still fit an int.
  EXPECT_LE(kChunkBytes * 4, std::size_t{INT_MAX});
}

TEST(Chunks, Edges) {
  EXPECT_TRUE(chunk_sizes(0).empty());
  EXPECT_EQ(chunk_sizes(1), std::vector<std::size_t>{1});
  EXPECT_EQ(chunk_sizes(kChunkBytes), std::vector<std::size_t>{kChunkBytes});
  EXPECT_EQ(chunk_sizes(kChunkBytes + 1), (std::vector<std::size_t>{kChunkBytes, 1}));
  EXPECT_EQ(chunk_sizes(10, 3), (std::vector<std::size_t>{3, 3, 3, 1}));
  EXPECT_EQ(chunk_sizes(3, 1), (std::vector<std::size_t>{1, 1, 1}));
}

Bytes part_of(int rank) {
  return Bytes(static_cast<std::size_t>(rank * rank), static_cast<std::uint8_t>(rank));
}

void rethrow(const std::vector<std::exception_ptr>& thrown) {
  for (const std::exception_ptr& e : thrown) {
    if (e) std::rethrow_exception(e);
  }
}

TEST(Collectives, AllGatherOfUnequalParts) {
  for (const int size : {1, 2, 3, 5, 8}) {
    World world(size);
    rethrow(world.run([&](Comm& comm) {
      const std::vector<Bytes> all = comm.all_gather(part_of(comm.rank()));
      ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
      for (int r = 0; r < size; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], part_of(r));
    }));
  }
}

TEST(Collectives, AllGatherOfNothing) {
  World world(4);
  rethrow(world.run([](Comm& comm) {
    const std::vector<Bytes> all = comm.all_gather({});
    ASSERT_EQ(all.size(), 4U);
    for (const Bytes& part : all) EXPECT_TRUE(part.empty());
  }));
}

TEST(Collectives, BroadcastOfUnknownLength) {
  World world(3);
  rethrow(world.run([](Comm& comm) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100000}}) {
      Bytes data = comm.root() ? Bytes(size, 7) : Bytes(3, 9);  // what was there is replaced
      comm.broadcast_bytes(data);
      EXPECT_EQ(data, Bytes(size, 7));
    }
  }));
}

TEST(Collectives, Any) {
  World world(5);
  rethrow(world.run([](Comm& comm) {
    EXPECT_FALSE(comm.any(false));
    for (int r = 0; r < 5; ++r) EXPECT_TRUE(comm.any(comm.rank() == r));
    EXPECT_FALSE(comm.any(false));
    EXPECT_TRUE(comm.any(true));
  }));
}

TEST(Collectives, OneRankWithoutMpi) {
  SelfComm comm;
  EXPECT_TRUE(comm.root());
  EXPECT_EQ(comm.size(), 1);
  EXPECT_EQ(comm.gather(part_of(3)), std::vector<Bytes>{part_of(3)});
  EXPECT_EQ(comm.all_gather(part_of(3)), std::vector<Bytes>{part_of(3)});
  EXPECT_TRUE(comm.any(true));
  EXPECT_FALSE(comm.any(false));
  Bytes data = part_of(4);
  comm.broadcast_bytes(data);
  EXPECT_EQ(data, part_of(4));
}

}  // namespace
}  // namespace coppice
