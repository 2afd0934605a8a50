// Authentication paths: a sink that catches one while a tree grows, and one read through a cache.
#pragma once

#include <span>

#include "core/base/bytes.hpp"
#include "core/merkle/node_sink.hpp"
#include "core/merkle/subtree_builder.hpp"
#include "core/merkle/tree_cache.hpp"

namespace coppice {

// Path of one leaf: `height` nodes, sibling of the leaf first (RFC 8554 section 5.4).
class AuthPath final : public NodeSink {
 public:
  AuthPath(TreeIndex tree, std::uint64_t leaf, unsigned height, std::size_t node_bytes)
      : tree_(tree), leaf_(leaf), height_(height), node_bytes_(node_bytes), path_(height * node_bytes) {}

  [[nodiscard]] ByteView bytes() const noexcept { return path_; }
  [[nodiscard]] bool wants_height(unsigned height) const noexcept override { return height < height_; }
  [[nodiscard]] bool wants(const NodeRef& node) const noexcept override {
    return node.tree == tree_ && node.id.index == ((leaf_ >> node.id.height) ^ 1);
  }
  void take(const NodeRef& node, ByteView value) noexcept override;

 private:
  TreeIndex tree_;
  std::uint64_t leaf_;
  unsigned height_;
  std::size_t node_bytes_;
  Bytes path_;
};

// Path of `leaf` from the cached upper rows, growing only the subtree below them that holds the leaf:
// 2^(tree height - cache depth) leaves. Also proves that this subtree belongs to the cached node;
// throws Errc::bad_data when it does not (wrong cache, wrong seed or a computing fault).
[[nodiscard]] Bytes auth_path_from_cache(const TreeCache& cache, TreeScheme& scheme, TreeIndex tree,
                                         std::uint64_t leaf);

}  // namespace coppice
