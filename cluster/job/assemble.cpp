// Folds the ranks' records into the upper tree and checks the result before anything is released.
#include "cluster/job/assemble.hpp"

#include <algorithm>
#include <array>

#include "core/hash/dispatch.hpp"
#include "core/merkle/auth_path.hpp"
#include "core/sys/random.hpp"

namespace coppice {

TreeCache assemble(const UnitPlan& plan, std::span<const UnitRange> ranges,
                   std::span<const Bytes> records, TreeScheme& scheme) {
  const unsigned unit_depth = plan.tree_height - plan.unit_height;
  TreeCache full(0, plan.tree_height, std::max(plan.cache_depth, unit_depth), plan.node_bytes);
  std::uint64_t next = 0;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const std::uint64_t want = ranges[r].size() * plan.record_bytes();
    if (r >= records.size() || records[r].size() != want || ranges[r].first != next) {
      fail(Errc::internal, "rank " + std::to_string(r) + " sent " +
                               std::to_string(r < records.size() ? records[r].size() : 0) +
                               " bytes of nodes where " + std::to_string(want) + " belong");
    }
    place_records(plan, ranges[r], records[r], full);
    next = ranges[r].last;
  }
  if (next != plan.units()) {
    fail(Errc::internal, std::to_string(plan.units() - next) + " units were given to no rank");
  }
  full.fold(scheme);
  return full;
}

TreeCache upper_rows(const TreeCache& full, unsigned depth) {
  TreeCache upper(0, full.tree_height(), depth, full.node_bytes());
  std::ranges::copy(full.bytes().first(upper.bytes().size()), upper.bytes().begin());
  return upper;
}

unsigned self_check(const LmsPair& pair, const LmsTreeSecret& secret, const TreeCache& full,
                    const HashMany& kernel) {
  const LmsTreeSecret* const one[] = {&secret};
  LmsTrees scheme(pair, one, kernel);
  if (const auto bad = full.first_inconsistent(scheme)) {
    fail(Errc::internal, "self-check: node " + std::to_string(bad->index) + " at height " +
                             std::to_string(bad->height) + " does not fit its children");
  }
  // Recompute subtrees through the same path that a signature takes.
  const std::uint64_t subtrees = std::uint64_t{1} << full.depth();
  const unsigned below = full.tree_height() - full.depth();
  std::array<std::uint8_t, 8> draw{};
  random_private_bytes(draw);
  std::vector<std::uint64_t> chosen = {0, 1, load_be64(draw.data()) % subtrees};
  std::erase_if(chosen, [&](std::uint64_t i) { return i >= subtrees; });
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  Bytes path;
  std::uint64_t leaf = 0;
  for (const std::uint64_t i : chosen) {
    leaf = (i << below) | (load_be64(draw.data()) >> 32 & ((std::uint64_t{1} << below) - 1));
    path = auth_path_from_cache(full, scheme, 0, leaf);
  }
  // One signature, in memory only: it is wiped with this frame and never leaves the process.
  LmsPublicKey key{pair, secret.identifier, {}};
  std::ranges::copy(full.root(), key.root.begin());
  WipedBytes signature(pair.signature_bytes());
  constexpr std::string_view kMessage = "key generation self-check";
  lms_sign(pair, secret, static_cast<std::uint32_t>(leaf), path, as_bytes(kMessage), scheme.ots(),
           signature.span());
  const Verdict verdict =
      lms_verify(key, as_bytes(kMessage), signature.view(), *kernels(pair.lms->hash).back());
  if (!verdict.valid()) fail(Errc::internal, "self-check: test signature fails, " + verdict.detail);
  return static_cast<unsigned>(chosen.size());
}

}  // namespace coppice
