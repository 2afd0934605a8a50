// Streams subtrees in O(height) memory: batches of leaves, rows of parents, nodes to a sink.
#pragma once

#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/merkle/node_sink.hpp"
#include "core/merkle/tree_scheme.hpp"

namespace coppice {

class SubtreeBuilder {
 public:
  // `scheme` outlives the builder. One builder per thread; its buffers are made for `max_height`.
  SubtreeBuilder(TreeScheme& scheme, unsigned max_height);

  // out = values of the given subtree roots in order, which all have the same height <= max_height.
  // Small subtrees share batches, also across trees. `sink` may be null; it sees the roots too.
  void build(std::span<const NodeRef> roots, NodeSink* sink, ByteSpan out) noexcept;

 private:
  // Reduces `count` nodes of height `from` in row_ to height `to`, feeding the sink.
  std::size_t reduce(std::size_t count, unsigned from, unsigned to, NodeSink* sink) noexcept;
  void offer(unsigned height, std::size_t count, NodeSink* sink) noexcept;
  void build_packed(std::span<const NodeRef> roots, NodeSink* sink, ByteSpan out) noexcept;
  void build_streamed(const NodeRef& root, NodeSink* sink, ByteSpan out) noexcept;

  TreeScheme& scheme_;
  std::size_t node_bytes_;
  unsigned batch_height_;           // log2 of the batch
  std::vector<LeafRef> leaves_;     // the batch
  std::vector<NodeRef> refs_;       // names of the nodes in row_
  Bytes row_;                       // nodes of the batch, reduced in place
  Bytes stack_;                     // left siblings waiting, one per height above the batch
};

}  // namespace coppice
