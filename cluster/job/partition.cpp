// Which rank grows which units: a pure function, the same on every rank.
#include "cluster/job/partition.hpp"

#include <numeric>

#include "core/base/error.hpp"

namespace coppice {

std::vector<UnitRange> partition(std::uint64_t units, std::span<const std::uint64_t> weights) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (total == 0) fail(Errc::internal, "no rank has a thread to work with");
  std::vector<UnitRange> ranges;
  std::uint64_t before = 0;
  std::uint64_t first = 0;
  for (const std::uint64_t weight : weights) {
    before += weight;
    // units <= 2^25 and total < 2^32, so the product fits 64 bits.
    const std::uint64_t last = units * before / total;
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

}  // namespace coppice
