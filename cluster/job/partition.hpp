// Which rank grows which units: a pure function, the same on every rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/tree_job.hpp"

namespace coppice {

// Contiguous ranges in rank order that cover [0, units), proportional to the weights (threads of a
// rank). Sizes differ from the exact share by less than one unit; a weight of 0 gets nothing.
[[nodiscard]] std::vector<UnitRange> partition(std::uint64_t units,
                                               std::span<const std::uint64_t> weights);

}  // namespace coppice
