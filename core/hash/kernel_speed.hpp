// Speed of the batched kernels on this machine, for choosing one: no kernel order fits every CPU
// (rotates run on one port here and on two there).
#pragma once

#include "core/hash/hash_many.hpp"

namespace coppice {

// Nanoseconds of one hash in a short chain, best of a few runs; tens of microseconds in all.
[[nodiscard]] double kernel_speed(const HashMany& kernel) noexcept;

// The fastest kernel of `hash` that this CPU can run. Of kernels within a twentieth of each other
// the one that kernels(hash) names first.
[[nodiscard]] const HashMany& fastest_kernel(HashId hash);

}  // namespace coppice
