// Grows a range of equal subtrees ("units") of one tree on the threads of this process.
#include "node/tree_job.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "core/merkle/subtree_builder.hpp"

namespace coppice {
namespace {

// Lays the wanted nodes of one unit out as its record.
class RecordSink final : public NodeSink {
 public:
  RecordSink(const UnitPlan& plan, std::uint64_t unit, ByteSpan record)
      : plan_(plan), unit_(unit), record_(record) {}

  [[nodiscard]] bool wants_height(unsigned height) const noexcept override {
    return height <= plan_.unit_height && plan_.unit_height - height < plan_.record_rows();
  }
  [[nodiscard]] bool wants(const NodeRef&) const noexcept override { return true; }
  void take(const NodeRef& node, ByteView value) noexcept override {
    const unsigned depth = plan_.unit_height - node.id.height;
    const std::uint64_t row = (std::uint64_t{1} << depth) - 1;
    const std::uint64_t in_row = node.id.index - (unit_ << depth);
    std::ranges::copy(value, record_.begin() + static_cast<std::ptrdiff_t>((row + in_row) *
                                                                            plan_.node_bytes));
  }

 private:
  const UnitPlan& plan_;
  std::uint64_t unit_;
  ByteSpan record_;
};

// Calls back after every batch of leaves: the calling thread must look after messages within a unit.
class TickingScheme final : public TreeScheme {
 public:
  TickingScheme(std::unique_ptr<TreeScheme> scheme, std::function<void()> tick)
      : scheme_(std::move(scheme)), tick_(std::move(tick)) {}
  [[nodiscard]] std::size_t node_bytes() const noexcept override { return scheme_->node_bytes(); }
  [[nodiscard]] std::size_t batch_leaves() const noexcept override {
    return scheme_->batch_leaves();
  }
  void leaves(std::span<const LeafRef> refs, ByteSpan out) noexcept override {
    scheme_->leaves(refs, out);
    tick_();
  }
  void nodes(std::span<const NodeRef> parents, ByteView children, ByteSpan out) noexcept override {
    scheme_->nodes(parents, children, out);
  }

 private:
  std::unique_ptr<TreeScheme> scheme_;
  std::function<void()> tick_;  // does not throw
};

}  // namespace

unsigned UnitPlan::record_rows() const noexcept {
  const unsigned unit_depth = tree_height - unit_height;
  return cache_depth > unit_depth ? cache_depth - unit_depth + 1 : 1;
}

std::size_t UnitPlan::record_bytes() const noexcept {
  return ((std::size_t{1} << record_rows()) - 1) * node_bytes;
}

Growth grow_units(const TreeSchemeFactory& factory, const UnitPlan& plan, WorkQueue& queue,
                  Executor& executor, const std::atomic<bool>& stop,
                  const std::function<void(std::uint64_t, ByteView)>& done,
                  const std::function<void(std::uint64_t)>& tick) {
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::unique_ptr<TreeScheme> scheme;
    std::unique_ptr<SubtreeBuilder> builder;
    Bytes record;
  };
  std::vector<Worker> workers(executor.threads());
  std::atomic<std::uint64_t> finished{0};
  std::atomic<Clock::rep> busy{0};
  std::exception_ptr tick_error;  // calling thread only
  const auto guarded_tick = [&]() noexcept {
    if (!tick || tick_error) return;
    try {
      tick(finished.load());
    } catch (...) {
      tick_error = std::current_exception();  // thrown at the next tick between units
    }
  };
  const auto work = [&](unsigned worker, std::uint64_t unit) {
    const auto start = Clock::now();
    Worker& w = workers[worker];
    if (w.scheme == nullptr) {  // made by the thread that uses it: first touch on its NUMA node
      w.scheme = factory.make();
      if (worker == 0) w.scheme = std::make_unique<TickingScheme>(std::move(w.scheme), guarded_tick);
      w.builder = std::make_unique<SubtreeBuilder>(*w.scheme, plan.unit_height);
      w.record.resize(plan.record_bytes());
    }
    RecordSink sink(plan, unit, w.record);
    const NodeRef root{0, {plan.unit_height, unit}};
    Bytes value(plan.node_bytes);
    w.builder->build(std::span(&root, 1), &sink, value);
    done(unit, w.record);
    busy.fetch_add((Clock::now() - start).count());
    finished.fetch_add(1);
  };
  Growth growth;
  growth.complete = executor.run(queue, work, stop, [&](std::uint64_t) {
    guarded_tick();
    if (tick_error) std::rethrow_exception(std::exchange(tick_error, nullptr));
  });
  growth.busy_seconds = std::chrono::duration<double>(Clock::duration(busy.load())).count();
  return growth;
}

bool grow_units(const TreeSchemeFactory& factory, const UnitPlan& plan, UnitRange range,
                Executor& executor, const std::atomic<bool>& stop, ByteSpan records,
                const std::function<void(std::uint64_t)>& tick) {
  WorkQueue queue(range);
  const std::size_t size = plan.record_bytes();
  const auto done = [&](std::uint64_t unit, ByteView record) {
    std::ranges::copy(record,
                      records.subspan((unit - range.first) * size, size).begin());
  };
  return grow_units(factory, plan, queue, executor, stop, done, tick).complete;
}

void place_records(const UnitPlan& plan, UnitRange range, ByteView records, TreeCache& cache) {
  const std::size_t n = plan.node_bytes;
  const std::size_t size = plan.record_bytes();
  for (std::uint64_t u = range.first; u < range.last; ++u) {
    ByteView at = records.subspan((u - range.first) * size, size);
    for (unsigned depth = 0; depth < plan.record_rows(); ++depth) {
      for (std::uint64_t i = 0; i < std::uint64_t{1} << depth; ++i, at = at.subspan(n)) {
        const NodeId id{plan.unit_height - depth, (u << depth) + i};
        if (cache.covers(id)) cache.set(id, at.first(n));
      }
    }
  }
}

unsigned choose_unit_height(unsigned tree_height, std::uint64_t workers, std::uint64_t leaf_limit,
                            std::size_t batch_leaves) noexcept {
  constexpr std::uint64_t kPerWorker = 8;
  unsigned height = tree_height;
  const auto units = [&] { return std::uint64_t{1} << (tree_height - height); };
  while (height > 0 && (std::uint64_t{1} << height) > leaf_limit) --height;
  while (height > 0 && units() < kPerWorker * workers &&
         (std::uint64_t{1} << height) > batch_leaves) {
    --height;
  }
  return height;
}

}  // namespace coppice
