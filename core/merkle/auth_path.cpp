// Authentication paths: a sink that catches one while a tree grows, and one read through a cache.
#include "core/merkle/auth_path.hpp"

#include <algorithm>

namespace coppice {

void AuthPath::take(const NodeRef& node, ByteView value) noexcept {
  std::copy(value.begin(), value.end(),
            path_.begin() + static_cast<std::ptrdiff_t>(node.id.height * node_bytes_));
}

Bytes auth_path_from_cache(const TreeCache& cache, TreeScheme& scheme, TreeIndex tree,
                           std::uint64_t leaf) {
  const unsigned below = cache.tree_height() - cache.depth();
  const std::size_t n = cache.node_bytes();
  AuthPath path(tree, leaf, cache.tree_height(), n);
  if (below > 0) {
    SubtreeBuilder builder(scheme, below);
    const NodeRef top{tree, {below, leaf >> below}};
    Bytes value(n);
    builder.build(std::span(&top, 1), &path, value);
    if (!equal(value, cache.node(top.id))) {
      fail(Errc::bad_data, "tree cache does not belong to this key: node " +
                               std::to_string(top.id.index) + " at height " + std::to_string(below) +
                               " differs from the recomputed one");
    }
  }
  for (unsigned h = below; h < cache.tree_height(); ++h) {
    const NodeId sibling = NodeId{h, leaf >> h}.sibling();
    path.take({tree, sibling}, cache.node(sibling));
  }
  Bytes out(path.bytes().begin(), path.bytes().end());
  return out;
}

}  // namespace coppice
