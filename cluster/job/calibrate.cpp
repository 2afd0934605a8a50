// A short measurement of this machine's leaf rate: for the size of units and for --dry-run.
#include "cluster/job/calibrate.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/lms/lms.hpp"

namespace coppice {

double seconds_per_leaf(const LmsPair& pair, const HashMany& kernel) {
  using Clock = std::chrono::steady_clock;
  LmsTreeSecret zero;
  zero.seed_bytes = pair.lms->m;
  const LmsTreeSecret* const one[] = {&zero};
  LmsTrees trees(pair, one, kernel);
  std::vector<LeafRef> refs(kernel.lanes);
  for (std::size_t l = 0; l < refs.size(); ++l) refs[l].leaf = l % (std::uint64_t{1} << pair.lms->h);
  Bytes out(refs.size() * trees.node_bytes());
  // At least 3 runs, then up to 20 ms: the minimum is what an undisturbed thread reaches.
  double best = 1e9;
  const auto start = Clock::now();
  for (int run = 0; run < 3 || Clock::now() - start < std::chrono::milliseconds(20); ++run) {
    const auto before = Clock::now();
    trees.leaves(refs, out);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best / static_cast<double>(refs.size());
}

}  // namespace coppice
