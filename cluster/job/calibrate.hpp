// A short measurement of this machine's leaf rate: for the size of units and for --dry-run.
#pragma once

#include "core/hash/hash_many.hpp"
#include "core/lms/lms_params.hpp"

namespace coppice {

// Seconds per leaf of one thread: the fastest of a few full lane groups on a throw-away seed.
[[nodiscard]] double seconds_per_leaf(const LmsPair& pair, const HashMany& kernel);

}  // namespace coppice
