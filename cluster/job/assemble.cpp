// Folds the ranks' records into the upper tree and checks the result before anything is released.
#include "cluster/job/assemble.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/checked_cast.hpp"
#include "core/hash/dispatch.hpp"
#include "core/merkle/auth_path.hpp"
#include "core/sys/random.hpp"

namespace coppice {

Assembly::Assembly(const UnitPlan& plan)
    : plan_(plan),
      full_(0, plan.tree_height, std::max(plan.cache_depth, plan.tree_height - plan.unit_height),
            plan.node_bytes),
      there_(checked_cast<std::size_t>(plan.units())) {}

bool Assembly::place(std::uint64_t unit, ByteView record) {
  if (unit >= plan_.units() || record.size() != plan_.record_bytes()) {
    fail(Errc::internal, "unit " + std::to_string(unit) + " came with " +
                             std::to_string(record.size()) + " bytes of nodes where " +
                             std::to_string(plan_.record_bytes()) + " belong to each of " +
                             std::to_string(plan_.units()) + " units");
  }
  if (there_[unit]) return false;
  there_[unit] = true;
  ++placed_;
  place_records(plan_, {unit, unit + 1}, record, full_);
  return true;
}

std::vector<UnitRange> Assembly::missing() const {
  std::vector<UnitRange> ranges;
  for (std::uint64_t u = 0; u < plan_.units(); ++u) {
    if (there_[u]) continue;
    if (ranges.empty() || ranges.back().last != u) ranges.push_back({u, u});
    ranges.back().last = u + 1;
  }
  return ranges;
}

TreeCache Assembly::fold(TreeScheme& scheme) && {
  if (placed_ != plan_.units()) {
    fail(Errc::internal, std::to_string(plan_.units() - placed_) + " units are missing");
  }
  full_.fold(scheme);
  return std::move(full_);
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
