// The kernel of a hash that is fastest on this machine, measured once and remembered.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/hash/hash_many.hpp"

namespace coppice {

// The kernel named `forced` (errors as select_kernel), or the fastest of this machine. The choice
// is kept in kernel_cache_path(); a file of another CPU, build or form is ignored and written anew,
// and one that cannot be written is no error. A wrong choice can only be slow. Measures at most
// once per hash and process; safe from several threads.
[[nodiscard]] const HashMany& choose_kernel(HashId hash, std::string_view forced = {});

// $XDG_CACHE_HOME/coppice/kernels or ~/.cache/coppice/kernels; empty when there is neither folder
// or COPPICE_KERNEL_CACHE is "off".
[[nodiscard]] std::filesystem::path kernel_cache_path();

// What a cached choice is bound to: CPU model and features, program version and build.
[[nodiscard]] std::string kernel_cache_key();

// The choice without the memory of this process: from the file at `cache`, or measured and written.
[[nodiscard]] const HashMany& choose_kernel_with_cache(HashId hash,
                                                       const std::filesystem::path& cache);

}  // namespace coppice
