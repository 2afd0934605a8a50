// Narrowing integer conversion that refuses to lose a value; the whole policy against 2 GiB cliffs.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace coppice {

template <class To, class From>
[[nodiscard]] constexpr To checked_cast(From value) {
  if (!std::in_range<To>(value)) {
    fail(Errc::internal, "integer " + std::to_string(value) + " does not fit its target type");
  }
  return static_cast<To>(value);
}

}  // namespace coppice
