// The one contract of a scheme with the tree engine: a leaf function and a node function, batched.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/merkle/node_id.hpp"

namespace coppice {

// An object computes for one thread and owns its scratch memory (lane buffers), so calls allocate
// nothing. The trees it knows (identifiers, seeds) are shared and immutable and outlive it.
// Virtual at the grain of a batch: one call hashes thousands of times.
class TreeScheme {
 public:
  TreeScheme() = default;
  TreeScheme(const TreeScheme&) = delete;
  TreeScheme& operator=(const TreeScheme&) = delete;
  virtual ~TreeScheme() = default;

  // Bytes of one packed node, leaves included (LMS: n; Lemur: 2,880 to 4,608).
  [[nodiscard]] virtual std::size_t node_bytes() const noexcept = 0;
  // A power of two: the builder asks for this many leaves at once where a tree has them. Large enough
  // to fill the lanes of leaves() several times and those of nodes() on the levels that cost.
  [[nodiscard]] virtual std::size_t batch_leaves() const noexcept = 0;

  // out = the leaf values in order, refs.size() * node_bytes(). Any number, any mix of trees.
  virtual void leaves(std::span<const LeafRef> refs, ByteSpan out) noexcept = 0;
  // out[i] = parent i of the children 2i (left) and 2i+1 (right) in `children`. `parents` names them,
  // because LMS and SLH-DSA hash the position. out may overlap children when out starts with it.
  virtual void nodes(std::span<const NodeRef> parents, ByteView children, ByteSpan out) noexcept = 0;
};

// Makes one computing object per thread.
class TreeSchemeFactory {
 public:
  TreeSchemeFactory() = default;
  TreeSchemeFactory(const TreeSchemeFactory&) = delete;
  TreeSchemeFactory& operator=(const TreeSchemeFactory&) = delete;
  virtual ~TreeSchemeFactory() = default;
  [[nodiscard]] virtual std::unique_ptr<TreeScheme> make() const = 0;
  [[nodiscard]] virtual std::size_t node_bytes() const noexcept = 0;
};

}  // namespace coppice
