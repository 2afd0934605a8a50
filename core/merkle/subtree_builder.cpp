// Streams subtrees in O(height) memory: batches of leaves, rows of parents, nodes to a sink.
#include "core/merkle/subtree_builder.hpp"

#include <algorithm>
#include <bit>

namespace coppice {

SubtreeBuilder::SubtreeBuilder(TreeScheme& scheme, unsigned max_height)
    : scheme_(scheme), node_bytes_(scheme.node_bytes()) {
  const std::size_t batch = std::bit_floor(std::max<std::size_t>(scheme.batch_leaves(), 1));
  batch_height_ = static_cast<unsigned>(std::countr_zero(batch));
  leaves_.resize(batch);
  refs_.resize(batch);
  row_.resize(batch * node_bytes_);
  const unsigned above = max_height > batch_height_ ? max_height - batch_height_ : 0;
  stack_.resize((above + 1) * 2 * node_bytes_);
}

void SubtreeBuilder::build(std::span<const NodeRef> roots, NodeSink* sink, ByteSpan out) noexcept {
  if (roots.empty()) return;
  if (roots.front().id.height <= batch_height_) {
    build_packed(roots, sink, out);
    return;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    build_streamed(roots[i], sink, out.subspan(i * node_bytes_, node_bytes_));
  }
}

void SubtreeBuilder::offer(unsigned height, std::size_t count, NodeSink* sink) noexcept {
  if (sink == nullptr || !sink->wants_height(height)) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (sink->wants(refs_[i])) sink->take(refs_[i], ByteView(row_).subspan(i * node_bytes_, node_bytes_));
  }
}

std::size_t SubtreeBuilder::reduce(std::size_t count, unsigned from, unsigned to,
                                   NodeSink* sink) noexcept {
  for (unsigned height = from; height < to; ++height) {
    const std::size_t parents = count / 2;
    for (std::size_t i = 0; i < parents; ++i) {
      refs_[i] = {refs_[2 * i].tree, refs_[2 * i].id.parent()};
    }
    scheme_.nodes(std::span(refs_).first(parents), ByteView(row_).first(count * node_bytes_),
                  ByteSpan(row_).first(parents * node_bytes_));
    count = parents;
    offer(height + 1, count, sink);
  }
  return count;
}

void SubtreeBuilder::build_packed(std::span<const NodeRef> roots, NodeSink* sink,
                                  ByteSpan out) noexcept {
  const unsigned height = roots.front().id.height;
  const std::size_t per_root = std::size_t{1} << height;
  const std::size_t roots_per_batch = leaves_.size() >> height;
  for (std::size_t done = 0; done < roots.size(); done += roots_per_batch) {
    const std::size_t n = std::min(roots_per_batch, roots.size() - done);
    std::size_t count = 0;
    for (std::size_t r = 0; r < n; ++r) {
      const NodeRef& root = roots[done + r];
      for (std::size_t l = 0; l < per_root; ++l, ++count) {
        leaves_[count] = {root.tree, root.id.first_leaf() + l};
        refs_[count] = {root.tree, {0, root.id.first_leaf() + l}};
      }
    }
    scheme_.leaves(std::span(leaves_).first(count), ByteSpan(row_).first(count * node_bytes_));
    offer(0, count, sink);
    count = reduce(count, 0, height, sink);
    std::uint8_t* to = out.data() + done * node_bytes_;
    if (to != row_.data()) std::copy_n(row_.data(), count * node_bytes_, to);
  }
}

void SubtreeBuilder::build_streamed(const NodeRef& root, NodeSink* sink, ByteSpan out) noexcept {
  const unsigned levels = root.id.height - batch_height_;
  const std::uint64_t batches = std::uint64_t{1} << levels;
  const std::uint64_t first = root.id.index << levels;
  for (std::uint64_t b = 0; b < batches; ++b) {
    NodeRef node{root.tree, {batch_height_, first + b}};
    build_packed(std::span(&node, 1), sink, ByteSpan(row_).first(node_bytes_));
    // Binary counter: slot h holds a finished left node and room for its right sibling.
    const ByteView value = ByteView(row_).first(node_bytes_);
    for (unsigned h = 0;; ++h) {
      const ByteSpan slot = ByteSpan(stack_).subspan(2 * h * node_bytes_, 2 * node_bytes_);
      const bool right = h < levels && ((b >> h) & 1) != 0;
      if (!right) {
        std::copy(value.begin(), value.end(), slot.begin());
        break;
      }
      std::copy(value.begin(), value.end(), slot.begin() + static_cast<std::ptrdiff_t>(node_bytes_));
      node.id = node.id.parent();
      scheme_.nodes(std::span(&node, 1), slot, ByteSpan(row_).first(node_bytes_));
      refs_[0] = node;
      offer(node.id.height, 1, sink);
    }
  }
  std::copy_n(stack_.begin() + static_cast<std::ptrdiff_t>(2 * levels * node_bytes_), node_bytes_,
              out.begin());
}

}  // namespace coppice
