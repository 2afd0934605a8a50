// Folds the ranks' records into the upper tree and checks the result before anything is released.
#pragma once

#include <span>
#include <vector>

#include "core/lms/hss.hpp"
#include "node/tree_job.hpp"

namespace coppice {

// Collects the records of all units, in any order, on rank 0.
class Assembly {
 public:
  explicit Assembly(const UnitPlan& plan);

  // False when the unit is there already: the first record counts. Errc::internal for a unit or a
  // size that does not belong to the plan.
  bool place(std::uint64_t unit, ByteView record);
  [[nodiscard]] std::uint64_t placed() const noexcept { return placed_; }
  [[nodiscard]] std::vector<UnitRange> missing() const;
  // The rows 0 .. max(cache depth, unit depth) of the tree. Errc::internal when units are missing.
  [[nodiscard]] TreeCache fold(TreeScheme& scheme) &&;

 private:
  UnitPlan plan_;
  TreeCache full_;
  std::vector<bool> there_;
  std::uint64_t placed_ = 0;
};

// The first `depth` rows of `full`.
[[nodiscard]] TreeCache upper_rows(const TreeCache& full, unsigned depth);

// Guards against computing faults anywhere: proves every inner node of `full`, grows the subtrees below
// the first two and one random node of its deepest row again, signs one message in memory with the top
// tree and verifies it with the portable kernel. Returns the number of subtrees grown again;
// Errc::internal or bad_data naming the node.
[[nodiscard]] unsigned self_check(const LmsPair& pair, const LmsTreeSecret& secret,
                                  const TreeCache& full, const HashMany& kernel);

}  // namespace coppice
