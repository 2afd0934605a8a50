// Folds the ranks' records into the upper tree and checks the result before anything is released.
#pragma once

#include <span>
#include <vector>

#include "core/lms/hss.hpp"
#include "node/tree_job.hpp"

namespace coppice {

// The rows 0 .. max(cache depth, unit depth) of the tree. `records[r]` belongs to `ranges[r]`;
// Errc::internal naming the rank when a size is wrong or units are missing.
[[nodiscard]] TreeCache assemble(const UnitPlan& plan, std::span<const UnitRange> ranges,
                                 std::span<const Bytes> records, TreeScheme& scheme);

// The first `depth` rows of `full`.
[[nodiscard]] TreeCache upper_rows(const TreeCache& full, unsigned depth);

// Guards against computing faults anywhere: proves every inner node of `full`, grows the subtrees below
// the first two and one random node of its deepest row again, signs one message in memory with the top
// tree and verifies it with the portable kernel. Returns the number of subtrees grown again;
// Errc::internal or bad_data naming the node.
[[nodiscard]] unsigned self_check(const LmsPair& pair, const LmsTreeSecret& secret,
                                  const TreeCache& full, const HashMany& kernel);

}  // namespace coppice
