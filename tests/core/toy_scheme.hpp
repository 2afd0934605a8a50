// A tree scheme for tests of the engine: a node is the hash of its name and children, at any size.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/hash/sha256.hpp"
#include "core/merkle/tree_scheme.hpp"

namespace coppice::test {

class ToyScheme final : public TreeScheme {
 public:
  ToyScheme(std::size_t node_bytes, std::size_t batch) : node_bytes_(node_bytes), batch_(batch) {}

  [[nodiscard]] std::size_t node_bytes() const noexcept override { return node_bytes_; }
  [[nodiscard]] std::size_t batch_leaves() const noexcept override { return batch_; }
  void leaves(std::span<const LeafRef> refs, ByteSpan out) noexcept override {
    note(out, refs.size() * node_bytes_);
    largest_batch_ = std::max(largest_batch_, refs.size());
    leaf_count_ += refs.size();
    for (std::size_t i = 0; i < refs.size(); ++i) {
      const Bytes value = leaf(node_bytes_, refs[i].tree, refs[i].leaf);
      std::ranges::copy(value, out.begin() + static_cast<std::ptrdiff_t>(i * node_bytes_));
    }
  }
  void nodes(std::span<const NodeRef> parents, ByteView children, ByteSpan out) noexcept override {
    note(children, 2 * parents.size() * node_bytes_);
    note(out, parents.size() * node_bytes_);
    node_count_ += parents.size();
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const ByteView both = children.subspan(2 * i * node_bytes_, 2 * node_bytes_);
      const Bytes value = parent(parents[i], both.first(node_bytes_), both.subspan(node_bytes_));
      std::ranges::copy(value, out.begin() + static_cast<std::ptrdiff_t>(i * node_bytes_));
    }
  }

  // The model: values by recursion.
  static Bytes leaf(std::size_t node_bytes, TreeIndex tree, std::uint64_t index) {
    Bytes name;
    append_be32(name, tree);
    append_be64(name, index);
    return expand(name, node_bytes);
  }
  static Bytes parent(const NodeRef& node, ByteView left, ByteView right) {
    Bytes name;
    append_be32(name, node.tree);
    append_be32(name, node.id.height);
    append_be64(name, node.id.index);
    append(name, left);
    append(name, right);
    return expand(name, left.size());
  }
  [[nodiscard]] Bytes model(const NodeRef& node) const {
    if (node.id.height == 0) return leaf(node_bytes_, node.tree, node.id.index);
    const NodeId left{node.id.height - 1, 2 * node.id.index};
    return parent(node, model({node.tree, left}), model({node.tree, left.sibling()}));
  }

  std::size_t largest_batch_ = 0;
  std::size_t leaf_count_ = 0;
  std::size_t node_count_ = 0;

  // Bytes of all memory that calls were given, overlapping pieces counted once.
  [[nodiscard]] std::size_t memory() {
    std::ranges::sort(pieces_);
    std::size_t total = 0;
    const std::uint8_t* end = nullptr;
    for (const auto& [from, to] : pieces_) {
      const std::uint8_t* start = end == nullptr ? from : std::max(from, end);
      if (to > start) {
        total += static_cast<std::size_t>(to - start);
        end = to;
      }
    }
    return total;
  }

 private:
  void note(ByteView where, std::size_t bytes) {
    const std::pair piece(where.data(), where.data() + bytes);
    if (std::ranges::find(pieces_, piece) == pieces_.end()) pieces_.push_back(piece);
  }
  static Bytes hash(ByteView data) {
    Bytes digest(32);
    Sha256 h;
    h.update(data);
    h.final(digest);
    return digest;
  }
  static Bytes expand(ByteView name, std::size_t bytes) {
    Bytes block = hash(name);
    Bytes out;
    while (out.size() < bytes) {
      append(out, block);
      for (std::size_t i = 0; i < 32 && ++block[i] == 0; ++i) {
      }
    }
    out.resize(bytes);
    return out;
  }

  std::size_t node_bytes_;
  std::size_t batch_;
  std::vector<std::pair<const std::uint8_t*, const std::uint8_t*>> pieces_;
};

}  // namespace coppice::test
