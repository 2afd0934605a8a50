// The upper rows of one tree in memory: a sink while the tree grows, a source of paths afterwards.
#include "core/merkle/tree_cache.hpp"

#include <algorithm>
#include <vector>

namespace coppice {

TreeCache::TreeCache(TreeIndex tree, unsigned tree_height, unsigned depth, std::size_t node_bytes)
    : tree_(tree),
      tree_height_(tree_height),
      depth_(std::min(depth, tree_height)),
      node_bytes_(node_bytes),
      nodes_(((std::size_t{2} << depth_) - 1) * node_bytes) {}

std::size_t TreeCache::offset(NodeId id) const noexcept {
  return ((std::size_t{1} << (tree_height_ - id.height)) - 1 + static_cast<std::size_t>(id.index)) *
         node_bytes_;
}

ByteView TreeCache::node(NodeId id) const noexcept {
  return ByteView(nodes_).subspan(offset(id), node_bytes_);
}

void TreeCache::set(NodeId id, ByteView value) noexcept {
  std::copy(value.begin(), value.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(offset(id)));
}

// row = the nodes at `height` computed from the row below it, in bounded pieces.
void TreeCache::hash_row(TreeScheme& scheme, unsigned height, Bytes& row) const {
  constexpr std::size_t kPiece = 1024;
  const std::size_t count = std::size_t{1} << (tree_height_ - height);
  row.resize(count * node_bytes_);
  const ByteView children = ByteView(nodes_).subspan(offset({height - 1, 0}), 2 * count * node_bytes_);
  std::vector<NodeRef> refs;
  for (std::size_t at = 0; at < count; at += kPiece) {
    const std::size_t n = std::min(kPiece, count - at);
    refs.clear();
    for (std::size_t i = 0; i < n; ++i) refs.push_back({tree_, {height, at + i}});
    scheme.nodes(refs, children.subspan(2 * at * node_bytes_, 2 * n * node_bytes_),
                 ByteSpan(row).subspan(at * node_bytes_, n * node_bytes_));
  }
}

void TreeCache::fold(TreeScheme& scheme) {
  Bytes row;
  for (unsigned height = tree_height_ - depth_ + 1; height <= tree_height_; ++height) {
    hash_row(scheme, height, row);
    std::copy(row.begin(), row.end(),
              nodes_.begin() + static_cast<std::ptrdiff_t>(offset({height, 0})));
  }
}

std::optional<NodeId> TreeCache::first_inconsistent(TreeScheme& scheme) const {
  Bytes row;
  for (unsigned height = tree_height_; height > tree_height_ - depth_; --height) {
    hash_row(scheme, height, row);
    const std::uint8_t* stored = nodes_.data() + offset({height, 0});
    for (std::size_t i = 0; i * node_bytes_ < row.size(); ++i) {
      if (!std::equal(stored + i * node_bytes_, stored + (i + 1) * node_bytes_,
                      row.begin() + static_cast<std::ptrdiff_t>(i * node_bytes_))) {
        return NodeId{height, i};
      }
    }
  }
  return std::nullopt;
}

}  // namespace coppice
