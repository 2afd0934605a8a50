// Key generation over ranks: broadcast, units on demand, assembly; rank 0 starts and finishes the files.
#include "cluster/job/runner.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "cluster/job/assemble.hpp"
#include "cluster/job/calibrate.hpp"
#include "cluster/job/key_output.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/mpi/control.hpp"
#include "cluster/signals.hpp"
#include "core/base/checked_cast.hpp"
#include "core/base/version.hpp"
#include "core/hash/dispatch.hpp"
#include "core/lms/lms_cost.hpp"
#include "node/checkpoint.hpp"
#include "node/kernel_choice.hpp"
#include "node/topology.hpp"

namespace coppice {
namespace {

using Clock = std::chrono::steady_clock;

thread_local std::string current_phase = "start-up";  // a rank may be a thread, in tests

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Runs `step` on rank 0; if it throws, every other rank leaves with the same code.
template <class Step>
void on_root(Comm& comm, Step step) {
  std::optional<Error> error;
  if (comm.root()) {
    try {
      step();
    } catch (const Error& e) {
      error.emplace(e);
    } catch (const std::exception& e) {
      error.emplace(Errc::internal, e.what());
    }
  }
  static_cast<void>(comm.any(false));  // sleeps while rank 0 works
  std::array<std::uint8_t, 4> code{};
  if (error) store_be32(code.data(), static_cast<std::uint32_t>(error->exit_code()));
  comm.broadcast(code);
  if (error) throw SharedError(error->code(), error->what());
  if (const auto c = load_be32(code.data()); c != 0) throw QuietExit{static_cast<int>(c)};
}

// Units of about 0.05 s, and enough of them that all threads end together: a rank that is four times
// slower than the rest holds them up by less than a quarter of a second.
unsigned unit_height_for(const LmsPair& top, double leaf_seconds, std::uint64_t threads,
                         const HashMany& kernel) {
  const auto limit = static_cast<std::uint64_t>(std::clamp(0.05 / leaf_seconds, 1.0, 1e9));
  return choose_unit_height(top.lms->h, threads, std::bit_floor(limit), kernel.lanes);
}

JobSpec make_spec(const KeygenRequest& request) {
  JobSpec spec;
  spec.program_version = kVersion;
  spec.params = request.params;
  const unsigned height = request.params.levels.front().lms->h;
  spec.cache_depth = std::min(request.cache_depth.value_or(default_cache_depth(height)), height);
  spec.threads = request.threads;
  spec.kernel = request.kernel;
  spec.watchdog_ms = checked_cast<std::uint32_t>(request.watchdog.count());
  return spec;
}

void share_spec(Comm& comm, JobSpec& spec) {
  Bytes wire;
  if (comm.root()) wire = encode(spec);
  comm.broadcast_bytes(wire);
  spec = decode_job_spec(wire);
  if (spec.program_version != kVersion) {
    fail(Errc::config, std::string("this rank runs version ") + kVersion + ", rank 0 runs " +
                           spec.program_version + "; install the same program on every host");
  }
}

// Every rank's place, and this rank's team size, which depends on who shares its cores.
std::vector<RankLayout> exchange_layout(Comm& comm, const JobSpec& spec, const HashMany& kernel) {
  const Topology here = read_topology();
  RankLayout mine;
  mine.rank = static_cast<std::uint32_t>(comm.rank());
  mine.host = host_name();
  mine.cpus = here.mask;
  mine.kernel = std::string(kernel.name);
  mine.program_version = kVersion;
  std::vector<HostRank> host_ranks;
  std::size_t self = 0;
  for (const Bytes& wire : comm.all_gather(encode(mine))) {
    RankLayout rank = decode_rank_layout(wire);
    if (rank.host != mine.host) continue;
    if (rank.rank == mine.rank) self = host_ranks.size();
    host_ranks.push_back({rank.cpus});
  }
  mine.threads = team_size(here, host_ranks, self, spec.threads);
  std::vector<RankLayout> layout;
  for (const Bytes& wire : comm.all_gather(encode(mine))) layout.push_back(decode_rank_layout(wire));
  if (comm.root()) {
    const std::string warning =
        placement_warning(here, host_ranks, mine.threads, comm.size() > 1 || std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr);
    if (!warning.empty()) spdlog::warn("{}", warning);
  }
  return layout;
}

std::uint64_t threads_of(const std::vector<RankLayout>& layout) {
  std::uint64_t total = 0;
  for (const RankLayout& rank : layout) total += rank.threads;
  return total;
}

// Rank 0 chooses the unit height for all from its own calibration; a run that goes on keeps the old one.
UnitPlan agree_on_plan(Comm& comm, JobSpec& spec, const std::vector<RankLayout>& layout,
                       const HashMany& kernel, std::optional<unsigned> unit_height,
                       double& leaf_seconds) {
  const LmsPair top = spec.params.levels.front();  // a copy: agree_on_plan() replaces the spec
  if (comm.root() && unit_height) {
    spec.unit_height = *unit_height;
  } else if (comm.root()) {
    leaf_seconds = seconds_per_leaf(top, kernel);
    spec.unit_height = unit_height_for(top, leaf_seconds, threads_of(layout), kernel);
  }
  share_spec(comm, spec);
  return {top.lms->h, spec.unit_height, spec.cache_depth, top.lms->m};
}

// Rank 0's side of the work: nodes that have come, kept in NAME.progress until the key is complete.
class Gathering {
 public:
  Gathering(Checkpoint& checkpoint, const StartedKey& started, const UnitPlan& plan,
            const KeygenRequest& request)
      : assembly(plan),
        plan_(plan),
        progress_("keygen " + started.key.params.name(), std::uint64_t{1} << plan.tree_height,
                  request.progress, request.stderr_is_terminal),
        checkpoint_(checkpoint) {
    checkpoint_.begin(started.key, plan,
                      [this](std::uint64_t unit, ByteView record) { assembly.place(unit, record); });
    if (checkpoint_.damaged() > 0) {
      spdlog::warn("{}: {} damaged records are left out, their units are grown again",
                   started.files.progress.string(), checkpoint_.damaged());
    }
    resumed = assembly.placed();
    if (resumed > 0) show();
  }

  void take(std::uint64_t unit, ByteView record) {
    if (assembly.place(unit, record)) checkpoint_.add(unit, record);
  }
  void idle() {
    show();
    constexpr std::chrono::seconds kFlushInterval{2};
    if (Clock::now() - flushed_ >= kFlushInterval) flush();
  }
  void flush() {
    checkpoint_.flush();
    flushed_ = Clock::now();
  }
  void remove() { checkpoint_.remove(); }

  Assembly assembly;
  std::uint64_t resumed = 0;  // units that were there at the start

 private:
  void show() { progress_.update(assembly.placed() * plan_.leaves_per_unit()); }

  UnitPlan plan_;
  Progress progress_;
  Checkpoint& checkpoint_;
  Clock::time_point flushed_ = Clock::now();
};

// Grows what rank 0 hands out, until the tree is whole or a stop was asked for. Fills in this rank's part.
void compute(Comm& comm, const JobSpec& spec, const UnitPlan& plan,
                      const std::vector<RankLayout>& layout, const TreeSchemeFactory& factory,
                      Gathering* gathering, RankLayout& mine) {
  const auto start = Clock::now();
  Coordination coordination;
  if (gathering != nullptr) {
    coordination.todo = gathering->assembly.missing();
    for (const RankLayout& rank : layout) coordination.hosts.push_back(rank.host);
    coordination.take = [&](std::uint64_t unit, ByteView record) { gathering->take(unit, record); };
    coordination.idle = [&] { gathering->idle(); };
  }
  WorkQueue queue;
  ControlTimes times;
  times.silence = std::chrono::milliseconds(spec.watchdog_ms);
  ControlChannel channel(comm, queue, mine.threads, stop_requested(),
                         gathering != nullptr ? &coordination : nullptr, times);
  Executor executor(mine.threads);
  const Growth growth = grow_units(
      factory, plan, queue, executor, channel.stopping(),
      [&](std::uint64_t unit, ByteView record) { channel.done(unit, record); },
      [&](std::uint64_t) { channel.tick(); });
  set_phase("waiting for the other ranks");
  channel.finish();
  if (gathering != nullptr) gathering->flush();
  mine.units = channel.own_units();
  mine.compute_seconds = seconds_since(start);
  mine.busy_seconds = growth.busy_seconds / mine.threads;
}

void finish(StartedKey& started, const KeygenRequest& request, Gathering& gathering,
            const HashMany& kernel, JobResult& result) {
  set_phase("assembling the tree");
  HssKeyFile& key = started.key;
  const LmsPair& top = key.params.levels.front();
  const LmsTreeSecret* const one[] = {&key.top};
  LmsTrees scheme(top, one, kernel);
  const TreeCache full = std::move(gathering.assembly).fold(scheme);
  set_phase("self-check");
  result.subtrees_recomputed = self_check(top, key.top, full, kernel);
  result.signature_checked = true;
  set_phase("writing the key");
  std::ranges::copy(full.root(), key.root.begin());
  key.complete = true;
  finish_key(started, upper_rows(full, key.cache_depth), request.form);
  gathering.remove();
}

// What a run left that was killed between the complete key and the end.
void remove_leftover(const std::filesystem::path& progress) {
  std::error_code ignored;
  std::filesystem::remove(progress, ignored);
}

void describe(const StartedKey& started, JobResult& result) {
  const HssKeyFile& key = started.key;
  result.params = key.params;
  result.files = started.files;
  result.public_key = key.public_key();
  result.key_id = key.id;
  result.insecure_seed = key.insecure_seed;
  result.child_seeds = key.child_seeds;
  result.cache_depth = key.cache_depth;
}

}  // namespace

void set_phase(std::string phase) { current_phase = std::move(phase); }
std::string phase() { return current_phase; }

std::optional<JobResult> run_keygen(Comm& comm, const KeygenRequest* request) {
  const auto start = Clock::now();
  JobResult result;
  StartedKey started;
  JobSpec spec;
  std::optional<Checkpoint> checkpoint;  // rank 0
  set_phase("starting the key");
  on_root(comm, [&] {
    // An unknown kernel must be refused before anything is written.
    static_cast<void>(select_kernel(request->params.levels.front().lms->hash, request->kernel));
    started = start_key(*request);
    if (started.already_complete) return remove_leftover(started.files.progress);
    checkpoint.emplace(started.files.progress, started.key);  // held from here on
    spec = make_spec(*request);
    spec.key_id = started.key.id;
    spec.identifier = started.key.top.identifier;
    spec.seed_bytes = checked_cast<std::uint32_t>(started.key.top.seed_bytes);
    spec.cache_depth = started.key.cache_depth;
  });
  const bool done = comm.root() && started.already_complete;
  if (comm.any(done)) {
    if (!comm.root()) return std::nullopt;
    describe(started, result);
    result.already_complete = true;
    return result;
  }
  share_spec(comm, spec);
  const LmsPair top = spec.params.levels.front();  // a copy: agree_on_plan() replaces the spec
  const HashMany& kernel = choose_kernel(top.lms->hash, spec.kernel);
  LmsTreeSecret secret;  // wiped at the end of this function on every rank
  if (comm.root()) secret.seed = started.key.top.seed.duplicate();
  comm.broadcast(secret.seed.writable());
  secret.seed_bytes = spec.seed_bytes;
  secret.identifier = spec.identifier;

  set_phase("comparing the ranks");
  std::vector<RankLayout> layout = exchange_layout(comm, spec, kernel);
  double leaf_seconds = 0;
  const UnitPlan plan = agree_on_plan(
      comm, spec, layout, kernel, checkpoint ? checkpoint->unit_height() : std::nullopt, leaf_seconds);
  std::optional<Gathering> gathering;
  on_root(comm, [&] { gathering.emplace(*checkpoint, started, plan, *request); });

  set_phase("growing units");
  const LmsTreeSecret* const one[] = {&secret};
  const LmsTreesFactory factory(top, one, kernel);
  RankLayout self = layout[static_cast<std::size_t>(comm.rank())];
  compute(comm, spec, plan, layout, factory, gathering ? &*gathering : nullptr, self);
  if (comm.any(gathering && gathering->assembly.placed() < plan.units())) {
    throw SharedError(Errc::interrupted,
                      "stopped by a signal; the unfinished key is kept, continue with --resume");
  }
  set_phase("gathering the layout");
  result.compute_seconds = self.compute_seconds;
  self.peak_memory_bytes = peak_memory_bytes();
  for (const Bytes& wire : comm.gather(encode(self))) result.layout.push_back(decode_rank_layout(wire));

  on_root(comm, [&] { finish(started, *request, *gathering, kernel, result); });
  if (!comm.root()) return std::nullopt;
  describe(started, result);
  result.unit_height = plan.unit_height;
  result.units_resumed = gathering->resumed;
  result.total_seconds = seconds_since(start);
  return result;
}

std::optional<DryRun> run_dry(Comm& comm, const KeygenRequest* request) {
  JobSpec spec;
  on_root(comm, [&] {
    static_cast<void>(select_kernel(request->params.levels.front().lms->hash, request->kernel));
    spec = make_spec(*request);
  });
  share_spec(comm, spec);
  const LmsPair top = spec.params.levels.front();  // a copy: agree_on_plan() replaces the spec
  const HashMany& kernel = choose_kernel(top.lms->hash, spec.kernel);
  const std::vector<RankLayout> layout = exchange_layout(comm, spec, kernel);
  double leaf_seconds = 0;
  const UnitPlan plan = agree_on_plan(comm, spec, layout, kernel, std::nullopt, leaf_seconds);
  if (!comm.root()) return std::nullopt;

  DryRun dry;
  dry.params = spec.params;
  dry.ranks = static_cast<unsigned>(comm.size());
  dry.threads_total = static_cast<unsigned>(threads_of(layout));
  dry.kernel = std::string(kernel.name);
  dry.cache_depth = spec.cache_depth;
  dry.unit_height = spec.unit_height;
  // Units go to whoever is free: whole rounds of them over all threads.
  const double rounds = static_cast<double>((plan.units() + dry.threads_total - 1) / dry.threads_total);
  const double node_share = static_cast<double>(inner_node_cost(top)) / static_cast<double>(leaf_cost(top));
  dry.estimated_seconds = rounds * static_cast<double>(plan.leaves_per_unit()) * leaf_seconds *
                          (1 + node_share);
  const std::uint64_t scratch = std::uint64_t{top.ots->p} * top.lms->m * kernel.lanes;
  const std::uint64_t rows = (std::uint64_t{2} << std::max(plan.cache_depth, plan.tree_height - plan.unit_height)) * top.lms->m;
  constexpr std::uint64_t kProgram = std::uint64_t{32} << 20;  // code, MPI and libraries
  dry.memory_bytes_per_rank = kProgram + 3 * rows + layout.front().threads * scratch;
  return dry;
}

}  // namespace coppice
