// Where a node stands in a perfect binary tree.
#pragma once

#include <compare>
#include <cstdint>

namespace coppice {

// `height` counts from the leaves (0) to the root (tree height); `index` from left to right.
struct NodeId {
  unsigned height = 0;
  std::uint64_t index = 0;

  [[nodiscard]] constexpr NodeId parent() const noexcept { return {height + 1, index >> 1}; }
  [[nodiscard]] constexpr NodeId sibling() const noexcept { return {height, index ^ 1}; }
  [[nodiscard]] constexpr std::uint64_t first_leaf() const noexcept { return index << height; }
  auto operator<=>(const NodeId&) const = default;
};

// Which tree of a batch: an index into the trees the scheme was made for (keys, FORS trees, layers).
using TreeIndex = std::uint32_t;

// One leaf or node of one tree; a batch may mix trees, so that lanes fill where trees are small.
struct LeafRef {
  TreeIndex tree = 0;
  std::uint64_t leaf = 0;
};
struct NodeRef {
  TreeIndex tree = 0;
  NodeId id;
  auto operator<=>(const NodeRef&) const = default;
};

}  // namespace coppice
