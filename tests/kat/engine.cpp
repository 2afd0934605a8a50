// What the known-answer tool computes with: kernels and threads over the product's tree engine.
#include "tests/kat/engine.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "core/merkle/subtree_builder.hpp"

namespace coppice::kat {
namespace {

constexpr unsigned kUnitRows = 6;    // at most 2^6 units of work a tree
constexpr unsigned kUnitHeight = 7;  // and none smaller than this: a batch of leaves or more

// Values of the nodes that cover `top` at height `unit_height`, left to right; `sink` sees the
// nodes of the units. Threads take units from a counter; each has its own lanes and stack. The
// sink's nodes are distinct, so a sink that stores them by position needs no lock.
Bytes unit_values(const LmsPair& pair, const LmsTreeSecret& tree, const HashMany& kernel,
                  unsigned threads, NodeId top, unsigned unit_height, NodeSink* sink) {
  const std::uint64_t count = std::uint64_t{1} << (top.height - unit_height);
  const std::uint64_t first = top.index << (top.height - unit_height);
  const std::size_t n = pair.lms->m;
  Bytes values(count * n);
  std::atomic<std::uint64_t> next{0};
  const LmsTreeSecret* const one[] = {&tree};
  const LmsTreesFactory factory(pair, one, kernel);
  const auto work = [&] {
    const auto scheme = factory.make();
    SubtreeBuilder builder(*scheme, unit_height);
    for (std::uint64_t unit = next++; unit < count; unit = next++) {
      const NodeRef root{0, {unit_height, first + unit}};
      builder.build(std::span(&root, 1), sink, ByteSpan(values).subspan(unit * n, n));
    }
  };
  std::vector<std::jthread> team;
  for (std::uint64_t t = 1; t < std::min<std::uint64_t>(threads, count); ++t)
    team.emplace_back(work);
  work();
  return values;
}

unsigned unit_height_of(unsigned height) {
  const unsigned low = height > kUnitRows ? height - kUnitRows : 0;
  return std::min(height, std::max(low, kUnitHeight));
}

}  // namespace

Engine::Engine(unsigned threads, unsigned max_height, std::string kernel)
    : threads_(threads), max_height_(max_height), kernel_name_(std::move(kernel)) {
  if (this->kernel(HashId::sha256) == nullptr && this->kernel(HashId::shake256) == nullptr) {
    (void)select_kernel(HashId::sha256, kernel_name_);  // throws with the list of names
  }
}

const HashMany* Engine::kernel(HashId hash) const {
  if (kernel_name_.empty()) return &select_kernel(hash);
  const auto list = kernels(hash);
  const auto found =
      std::ranges::find(list, kernel_name_, [](const HashMany* k) { return k->name; });
  return found == list.end() ? nullptr : *found;
}

TreeCache Engine::grow(const LmsPair& pair, const LmsTreeSecret& tree, unsigned depth) const {
  const HashMany& k = *kernel(pair.lms->hash);
  const unsigned h = pair.lms->h;
  const unsigned unit_height = unit_height_of(h);
  const std::size_t n = pair.lms->m;
  TreeCache rows(0, h, std::max(depth, h - unit_height), n);
  (void)unit_values(pair, tree, k, threads_, {h, 0}, unit_height, &rows);
  const LmsTreeSecret* const one[] = {&tree};
  LmsTrees scheme(pair, one, k);
  rows.fold(scheme);
  if (rows.depth() == std::min(depth, h)) return rows;
  TreeCache upper(0, h, depth, n);
  std::copy_n(rows.bytes().begin(), upper.bytes().size(), upper.bytes().begin());
  return upper;
}

Bytes Engine::node(const LmsPair& pair, const LmsTreeSecret& tree, NodeId id) const {
  const HashMany& k = *kernel(pair.lms->hash);
  const std::size_t n = pair.lms->m;
  unsigned height = unit_height_of(id.height);
  Bytes row = unit_values(pair, tree, k, threads_, id, height, nullptr);
  const LmsTreeSecret* const one[] = {&tree};
  LmsTrees scheme(pair, one, k);
  while (height < id.height) {
    ++height;
    std::vector<NodeRef> parents;
    for (std::uint64_t i = 0; i < row.size() / n / 2; ++i) {
      parents.push_back({0, {height, (id.index << (id.height - height)) + i}});
    }
    scheme.nodes(parents, row, ByteSpan(row).first(parents.size() * n));
    row.resize(parents.size() * n);
  }
  return row;
}

LmsPublicKey Engine::public_key(const LmsPair& pair, const LmsTreeSecret& tree) const {
  LmsPublicKey key{pair, tree.identifier, {}};
  const TreeCache cache = grow(pair, tree, 0);
  std::ranges::copy(cache.root(), key.root.begin());
  return key;
}

unsigned cpus_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace coppice::kat
