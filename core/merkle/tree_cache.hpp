// The upper rows of one tree in memory: a sink while the tree grows, a source of paths afterwards.
#pragma once

#include <optional>

#include "core/base/bytes.hpp"
#include "core/merkle/node_sink.hpp"
#include "core/merkle/tree_scheme.hpp"

namespace coppice {

// Holds the nodes at depth 0 (the root) to `depth` of tree `tree` with height `tree_height`, in heap
// order: node r at (r - 1) * node_bytes, root r = 1, children 2r and 2r + 1 (RFC 8554 section 5.3).
class TreeCache final : public NodeSink {
 public:
  TreeCache(TreeIndex tree, unsigned tree_height, unsigned depth, std::size_t node_bytes);

  [[nodiscard]] unsigned tree_height() const noexcept { return tree_height_; }
  [[nodiscard]] unsigned depth() const noexcept { return depth_; }
  [[nodiscard]] std::size_t node_bytes() const noexcept { return node_bytes_; }
  [[nodiscard]] bool covers(NodeId id) const noexcept {
    return id.height <= tree_height_ && tree_height_ - id.height <= depth_;
  }
  [[nodiscard]] ByteView node(NodeId id) const noexcept;  // requires covers(id)
  void set(NodeId id, ByteView value) noexcept;           // requires covers(id)
  [[nodiscard]] ByteView root() const noexcept { return ByteView(nodes_).first(node_bytes_); }
  // All rows, heap order: (2^(depth+1) - 1) * node_bytes.
  [[nodiscard]] ByteView bytes() const noexcept { return nodes_; }
  [[nodiscard]] ByteSpan bytes() noexcept { return nodes_; }

  // Computes every row above `depth` from the row at `depth`.
  void fold(TreeScheme& scheme);
  // The first node that is not the hash of its children, or nothing: with a trusted root this proves
  // every node of the cache.
  [[nodiscard]] std::optional<NodeId> first_inconsistent(TreeScheme& scheme) const;

  [[nodiscard]] bool wants_height(unsigned height) const noexcept override {
    return covers({height, 0});
  }
  [[nodiscard]] bool wants(const NodeRef& node) const noexcept override {
    return node.tree == tree_ && covers(node.id);
  }
  void take(const NodeRef& node, ByteView value) noexcept override { set(node.id, value); }

 private:
  [[nodiscard]] std::size_t offset(NodeId id) const noexcept;
  void hash_row(TreeScheme& scheme, unsigned height, Bytes& row) const;

  TreeIndex tree_;
  unsigned tree_height_;
  unsigned depth_;
  std::size_t node_bytes_;
  Bytes nodes_;
};

}  // namespace coppice
