// Overwrites memory in a way the compiler may not remove.
#pragma once

#include <cstddef>
#include <string.h>  // explicit_bzero is glibc's and BSD's, not ISO C

namespace coppice {

inline void wipe(void* p, std::size_t n) noexcept { ::explicit_bzero(p, n); }

}  // namespace coppice
