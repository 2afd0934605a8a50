// Receives chosen nodes while a subtree streams by: caches, paths, export files and tests are sinks.
#pragma once

#include <span>

#include "core/base/bytes.hpp"
#include "core/merkle/node_id.hpp"

namespace coppice {

class NodeSink {
 public:
  virtual ~NodeSink() = default;
  // Cheap filter by height, asked once per row; then per node.
  [[nodiscard]] virtual bool wants_height(unsigned height) const noexcept = 0;
  [[nodiscard]] virtual bool wants(const NodeRef& node) const noexcept = 0;
  virtual void take(const NodeRef& node, ByteView value) noexcept = 0;
};

// Hands nodes on to several sinks.
class SinkList final : public NodeSink {
 public:
  explicit SinkList(std::span<NodeSink* const> sinks) : sinks_(sinks) {}
  [[nodiscard]] bool wants_height(unsigned height) const noexcept override {
    for (const NodeSink* s : sinks_) {
      if (s->wants_height(height)) return true;
    }
    return false;
  }
  [[nodiscard]] bool wants(const NodeRef& node) const noexcept override {
    for (const NodeSink* s : sinks_) {
      if (s->wants_height(node.id.height) && s->wants(node)) return true;
    }
    return false;
  }
  void take(const NodeRef& node, ByteView value) noexcept override {
    for (NodeSink* s : sinks_) {
      if (s->wants_height(node.id.height) && s->wants(node)) s->take(node, value);
    }
  }

 private:
  std::span<NodeSink* const> sinks_;
};

}  // namespace coppice
