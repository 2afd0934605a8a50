// Tree caches and paths: folding, damage in any byte, every leaf at every cache depth.
#include "core/merkle/tree_cache.hpp"

#include <gtest/gtest.h>

#include "core/merkle/auth_path.hpp"
#include "core/merkle/subtree_builder.hpp"
#include "tests/core/core_support.hpp"
#include "tests/core/toy_scheme.hpp"

namespace coppice {
namespace {

using test::ToyScheme;

constexpr TreeIndex kTree = 7;

TreeCache grown(ToyScheme& scheme, unsigned height, unsigned depth) {
  TreeCache cache(kTree, height, depth, scheme.node_bytes());
  SubtreeBuilder builder(scheme, height);
  const NodeRef root{kTree, {height, 0}};
  Bytes value(scheme.node_bytes());
  builder.build(std::span(&root, 1), &cache, value);
  EXPECT_TRUE(equal(cache.root(), value));
  return cache;
}

TEST(TreeCache, HoldsTheUpperRowsInHeapOrder) {
  ToyScheme scheme(16, 4);
  const unsigned height = 6;
  for (unsigned depth = 0; depth <= height; ++depth) {
    const TreeCache cache = grown(scheme, height, depth);
    EXPECT_EQ(cache.depth(), depth);
    EXPECT_EQ(cache.bytes().size(), ((std::size_t{2} << depth) - 1) * 16);
    for (unsigned h = 0; h <= height; ++h) {
      EXPECT_EQ(cache.covers({h, 0}), height - h <= depth);
    }
    EXPECT_FALSE(cache.covers({height + 1, 0}));
    for (unsigned d = 0; d <= depth; ++d) {
      for (std::uint64_t i = 0; i < 1ULL << d; ++i) {
        const NodeId id{height - d, i};
        const Bytes expected = scheme.model({kTree, id});
        ASSERT_TRUE(equal(cache.node(id), expected));
        const std::size_t r = (std::size_t{1} << d) + i;  // RFC 8554 numbering
        ASSERT_TRUE(equal(cache.bytes().subspan((r - 1) * 16, 16), expected));
      }
    }
  }
}

TEST(TreeCache, DepthIsBoundedByTheTreeAndOtherTreesAreIgnored) {
  ToyScheme scheme(16, 4);
  TreeCache cache(kTree, 3, 99, 16);
  EXPECT_EQ(cache.depth(), 3U);
  EXPECT_TRUE(cache.wants({kTree, {0, 7}}));
  EXPECT_FALSE(cache.wants({kTree + 1, {0, 7}}));
}

TEST(TreeCache, FoldFillsTheRowsAboveTheDeepest) {
  for (const std::size_t node_bytes : {std::size_t{24}, std::size_t{3072}}) {
    ToyScheme scheme(node_bytes, 4);
    const TreeCache whole = grown(scheme, 7, 5);
    TreeCache folded(kTree, 7, 5, node_bytes);
    for (std::uint64_t i = 0; i < 32; ++i) folded.set({2, i}, whole.node({2, i}));
    folded.fold(scheme);
    EXPECT_TRUE(equal(folded.bytes(), whole.bytes()));
  }
}

TEST(TreeCache, FoldOfMoreRowsThanOnePieceHolds) {
  ToyScheme scheme(8, 256);
  const TreeCache whole = grown(scheme, 12, 12);
  TreeCache folded(kTree, 12, 12, 8);
  for (std::uint64_t i = 0; i < 4096; ++i) folded.set({0, i}, whole.node({0, i}));
  folded.fold(scheme);
  EXPECT_TRUE(equal(folded.bytes(), whole.bytes()));
  EXPECT_FALSE(folded.first_inconsistent(scheme).has_value());
}

TEST(TreeCache, FirstInconsistentFindsEveryFlippedByte) {
  ToyScheme scheme(16, 4);
  for (const unsigned depth : {1U, 4U, 6U}) {
    TreeCache cache = grown(scheme, 6, depth);
    ASSERT_FALSE(cache.first_inconsistent(scheme).has_value());
    for (std::size_t at = 0; at < cache.bytes().size(); ++at) {
      cache.bytes()[at] ^= 0x40;
      // Node r is wrong itself if it is the root, else its parent no longer fits.
      const std::size_t r = at / 16 + 1;
      const std::size_t seen = r == 1 ? 1 : r / 2;
      unsigned d = 0;
      while (seen >> (d + 1) != 0) ++d;
      const auto found = cache.first_inconsistent(scheme);
      ASSERT_TRUE(found.has_value()) << "byte " << at;
      ASSERT_EQ(*found, (NodeId{6 - d, seen - (std::size_t{1} << d)})) << "byte " << at;
      cache.bytes()[at] ^= 0x40;
    }
  }
}

TEST(AuthPath, CatchesThePathOfEveryLeafWhileTheTreeGrows) {
  ToyScheme scheme(16, 8);
  const unsigned height = 5;
  SubtreeBuilder builder(scheme, height);
  const NodeRef root{kTree, {height, 0}};
  for (std::uint64_t leaf = 0; leaf < 32; ++leaf) {
    AuthPath path(kTree, leaf, height, 16);
    Bytes value(16);
    builder.build(std::span(&root, 1), &path, value);
    Bytes expected;
    for (unsigned h = 0; h < height; ++h) {
      append(expected, scheme.model({kTree, NodeId{h, leaf >> h}.sibling()}));
    }
    ASSERT_TRUE(equal(path.bytes(), expected)) << "leaf " << leaf;
  }
}

TEST(AuthPath, FromTheCacheForEveryLeafAndDepth) {
  ToyScheme scheme(16, 4);
  const unsigned height = 6;
  const TreeCache whole = grown(scheme, height, height);
  for (unsigned depth = 0; depth <= height; ++depth) {
    const TreeCache cache = grown(scheme, height, depth);
    for (std::uint64_t leaf = 0; leaf < 64; ++leaf) {
      scheme.leaf_count_ = 0;
      const Bytes path = auth_path_from_cache(cache, scheme, kTree, leaf);
      EXPECT_EQ(scheme.leaf_count_, depth == height ? 0U : 1ULL << (height - depth));
      Bytes expected;
      for (unsigned h = 0; h < height; ++h) {
        append(expected, whole.node(NodeId{h, leaf >> h}.sibling()));
      }
      ASSERT_EQ(path, expected) << "depth " << depth << " leaf " << leaf;
    }
  }
}

TEST(AuthPath, RefusesACacheOfAnotherKey) {
  ToyScheme scheme(16, 4);
  TreeCache cache = grown(scheme, 6, 2);
  test::expect_error(Errc::bad_data, "tree cache does not belong to this key",
                     [&] { (void)auth_path_from_cache(cache, scheme, kTree + 1, 5); });
  cache.bytes()[(4 - 1 + 2) * 16] ^= 1;  // the third of four cached nodes at depth 2
  (void)auth_path_from_cache(cache, scheme, kTree, 5);
  test::expect_error(Errc::bad_data, "node 2 at height 4",
                     [&] { (void)auth_path_from_cache(cache, scheme, kTree, 32); });
}

}  // namespace
}  // namespace coppice
