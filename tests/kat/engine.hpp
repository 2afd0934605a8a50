// What the known-answer tool computes with: kernels and threads over the product's tree engine.
#pragma once

#include <string>

#include "core/hash/dispatch.hpp"
#include "core/lms/hss.hpp"

namespace coppice::kat {

class Engine {
 public:
  // `kernel`: name to force, or empty. Errc::usage or unavailable when no hash has that kernel
  // here.
  Engine(unsigned threads, unsigned max_height, std::string kernel);

  [[nodiscard]] unsigned threads() const noexcept { return threads_; }
  [[nodiscard]] unsigned max_height() const noexcept { return max_height_; }
  [[nodiscard]] const std::string& kernel_name() const noexcept { return kernel_name_; }
  // nullptr: the forced kernel does not exist for this hash.
  [[nodiscard]] const HashMany* kernel(HashId hash) const;

  // The upper `depth` rows of a whole tree; subtrees are units of work for the threads.
  [[nodiscard]] TreeCache grow(const LmsPair& pair, const LmsTreeSecret& tree,
                               unsigned depth) const;
  // The value of one node from all of its leaves.
  [[nodiscard]] Bytes node(const LmsPair& pair, const LmsTreeSecret& tree, NodeId id) const;
  [[nodiscard]] LmsPublicKey public_key(const LmsPair& pair, const LmsTreeSecret& tree) const;

 private:
  unsigned threads_;
  unsigned max_height_;
  std::string kernel_name_;
};

// The engine as a source of trees for HssSigner.
class EngineGrower final : public TreeGrower {
 public:
  explicit EngineGrower(const Engine& engine) : engine_(engine) {}
  [[nodiscard]] TreeCache grow(const LmsPair& pair, const LmsTreeSecret& tree,
                               unsigned depth) override {
    return engine_.grow(pair, tree, depth);
  }

 private:
  const Engine& engine_;
};

// Number of CPUs in the affinity mask of this process.
[[nodiscard]] unsigned cpus_of_this_process();

}  // namespace coppice::kat
