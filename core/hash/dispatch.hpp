// Kernel choice at run time. dispatch.cpp is the only file that looks at the CPU.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/hash/hash_many.hpp"

namespace coppice {

// Kernels of `hash` that this CPU can run, best first by design; the last one is "portable".
[[nodiscard]] std::span<const HashMany* const> kernels(HashId hash);

// The kernel to use: the first of kernels(hash), or the one named `forced` (from --kernel) when not
// empty. Errc::usage with the list of names when the name is unknown for this hash, and
// Errc::unavailable when it exists but this CPU lacks it.
[[nodiscard]] const HashMany& select_kernel(HashId hash, std::string_view forced = {});

// CPU features that matter here, for reports: "avx512f avx512bw ... sha".
[[nodiscard]] std::string cpu_features();

}  // namespace coppice
