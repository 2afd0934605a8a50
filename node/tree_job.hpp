// Grows a range of equal subtrees ("units") of one tree on the threads of this process.
#pragma once

#include <atomic>
#include <functional>

#include "core/base/bytes.hpp"
#include "core/merkle/tree_cache.hpp"
#include "core/merkle/tree_scheme.hpp"
#include "node/executor.hpp"

namespace coppice {

// How a tree is cut: 2^(tree_height - unit_height) units; unit u is the node {unit_height, u}. Per unit
// the result ("record") is its root, then the nodes below it that the cache of `cache_depth` rows
// wants, row by row downwards, left to right. With a cache no deeper than the units it is the root alone.
struct UnitPlan {
  unsigned tree_height = 0;
  unsigned unit_height = 0;
  unsigned cache_depth = 0;
  std::size_t node_bytes = 0;

  [[nodiscard]] std::uint64_t units() const noexcept {
    return std::uint64_t{1} << (tree_height - unit_height);
  }
  [[nodiscard]] std::uint64_t leaves_per_unit() const noexcept { return std::uint64_t{1} << unit_height; }
  // Rows of a record: the root and the cached rows below it.
  [[nodiscard]] unsigned record_rows() const noexcept;
  [[nodiscard]] std::size_t record_bytes() const noexcept;
  bool operator==(const UnitPlan&) const = default;
};

struct Growth {
  bool complete = false;    // false: `stop` ended it early
  double busy_seconds = 0;  // within units, summed over the threads
};

// Grows the units of `queue` until it is closed and empty; `done` gets each unit with its record, on
// the thread that grew it. `tick` gets the number of finished units on the calling thread, as
// Executor::run() says and also within its units, after each batch of leaves: a few milliseconds at most.
Growth grow_units(const TreeSchemeFactory& factory, const UnitPlan& plan, WorkQueue& queue,
                Executor& executor, const std::atomic<bool>& stop,
                const std::function<void(std::uint64_t, ByteView)>& done,
                const std::function<void(std::uint64_t)>& tick = {});

// The same for one range, into one piece: one record per unit, in order. Returns Growth::complete.
bool grow_units(const TreeSchemeFactory& factory, const UnitPlan& plan, UnitRange range,
                Executor& executor, const std::atomic<bool>& stop, ByteSpan records,
                const std::function<void(std::uint64_t)>& tick = {});

// Writes the records of `range` into the rows of `cache`, as far as it holds them.
void place_records(const UnitPlan& plan, UnitRange range, ByteView records, TreeCache& cache);

// A unit height for `workers` threads in all: at least `per_worker` units each where the tree allows,
// units of at most `leaf_limit` leaves, never so small that lanes stay empty.
[[nodiscard]] unsigned choose_unit_height(unsigned tree_height, std::uint64_t workers,
                                          std::uint64_t leaf_limit, std::size_t batch_leaves) noexcept;

}  // namespace coppice
