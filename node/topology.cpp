// CPUs of this process: sched_getaffinity(2), cgroups(7), hwloc's allowed set, OMP_NUM_THREADS.
#include "node/topology.hpp"

#include <hwloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>

#include "core/base/error.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;

std::vector<unsigned> affinity_mask() {
  // The kernel refuses sets smaller than its own; machines beyond 1024 CPUs exist.
  constexpr int kMost = 1 << 20;
  for (int cpus = 1024; cpus <= kMost; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpus),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<unsigned> mask;
      for (unsigned cpu = 0; cpu < static_cast<unsigned>(cpus); ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set.get())) mask.push_back(cpu);
      }
      return mask;
    }
    if (errno != EINVAL) break;
  }
  fail(Errc::config,
       "cannot read the CPU mask of this process: " + std::generic_category().message(errno));
}

// What the container may use at all, whatever this process is bound to.
void read_machine(Topology& out) {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  out.machine_cpus = online > 0 ? static_cast<unsigned>(online) : 1;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  // Caches, devices and NUMA nodes cost time at every start and are not asked for.
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  // Nor does this process have to visit each CPU to ask it for its CPUID: Linux knows.
  hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (hwloc_topology_load(topology) == 0) {
    const int cpus = hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(topology));
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (cpus > 0) out.machine_cpus = static_cast<unsigned>(cpus);
    if (cpus > 0 && cores > 0)
      out.cpus_per_core = std::max(1U, static_cast<unsigned>(cpus / cores));
  }
  hwloc_topology_destroy(topology);
}

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<double> number(std::string_view text) {
  long long v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(v);
}

// v2: "200000 100000" or "max 100000".
std::optional<double> quota_v2(const fs::path& group) {
  const std::optional<std::string> line = first_line(group / "cpu.max");
  if (!line) return std::nullopt;
  const std::string_view text = *line;
  const std::size_t space = text.find(' ');
  if (space == text.npos) return std::nullopt;
  const auto quota = number(text.substr(0, space));
  const auto period = number(text.substr(space + 1));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

// v1: two files; a quota of -1 is none.
std::optional<double> quota_v1(const fs::path& group) {
  const std::optional<std::string> quota_line = first_line(group / "cpu.cfs_quota_us");
  const std::optional<std::string> period_line = first_line(group / "cpu.cfs_period_us");
  if (!quota_line || !period_line) return std::nullopt;
  const auto quota = number(*quota_line);
  const auto period = number(*period_line);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

// The smallest quota from `root`/`path` up to `root`. In a container the path may be that of the
// host and not exist under the mount, whose top is then the group itself.
template <class QuotaOf>
void walk(const fs::path& root, const std::string& path, QuotaOf quota_of,
          std::optional<double>& least) {
  fs::path at = root;
  std::vector<fs::path> groups = {at};
  for (const fs::path& part : fs::path(path).relative_path()) {
    if (part == "..") break;  // outside of this cgroup namespace
    at /= part;
    groups.push_back(at);
  }
  for (const fs::path& group : groups) {
    const std::optional<double> quota = quota_of(group);
    if (quota && (!least || *quota < *least)) least = quota;
  }
}

bool has_cpu_controller(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

// Lines "hierarchy:controllers:path"; hierarchy 0 without controllers is v2. Hybrid systems have
// both.
std::optional<double> cgroup_quota(const fs::path& root, const fs::path& proc_cgroup) {
  std::optional<double> least;
  std::ifstream in(proc_cgroup);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      walk(root, path, quota_v2, least);
      walk(root / "unified", path, quota_v2, least);
    } else if (has_cpu_controller(controllers)) {
      for (const std::string& mount : std::set<std::string>{controllers, "cpu,cpuacct", "cpu"}) {
        walk(root / mount, path, quota_v1, least);
      }
    }
  }
  return least;
}

// "4,2" -> 4: teams nested in ours do not exist. Anything malformed counts as not set.
std::optional<unsigned> omp_num_threads() {
  const char* value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return std::nullopt;
  std::string_view text = value;
  text = text.substr(0, text.find(','));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  unsigned threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc{} || end != text.data() + text.size() || threads == 0) return std::nullopt;
  return threads;
}

bool overlap(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
  return std::ranges::any_of(a, [&](unsigned cpu) { return std::ranges::binary_search(b, cpu); });
}

// The ranks that compete for CPUs with `self`, directly or through others, and their CPUs together.
struct Rivals {
  std::vector<std::size_t> ranks;  // ascending, with self
  std::set<unsigned> cpus;
};

Rivals rivals_of(const std::vector<HostRank>& ranks, std::size_t self) {
  std::vector<bool> in(ranks.size(), false);
  std::vector<std::size_t> open = {self};
  in[self] = true;
  Rivals rivals;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    rivals.ranks.push_back(at);
    rivals.cpus.insert(ranks[at].mask.begin(), ranks[at].mask.end());
    for (std::size_t other = 0; other < ranks.size(); ++other) {
      if (in[other] || !overlap(ranks[at].mask, ranks[other].mask)) continue;
      in[other] = true;
      open.push_back(other);
    }
  }
  std::ranges::sort(rivals.ranks);
  return rivals;
}

// Part of `total` for position `at` of `count`, the remainder to the first; at least 1.
unsigned part_of(std::size_t total, std::size_t count, std::size_t at) {
  return static_cast<unsigned>(
      std::max<std::size_t>(1, total / count + (at < total % count ? 1 : 0)));
}

std::vector<HostRank> all_or_me(const Topology& here, const std::vector<HostRank>& ranks) {
  return ranks.empty() ? std::vector<HostRank>{{here.mask}} : ranks;
}

unsigned mask_share(const std::vector<HostRank>& ranks, std::size_t self) {
  const Rivals rivals = rivals_of(ranks, self);
  const auto position = std::ranges::find(rivals.ranks, self) - rivals.ranks.begin();
  const unsigned part =
      part_of(rivals.cpus.size(), rivals.ranks.size(), static_cast<std::size_t>(position));
  return std::max(1U, std::min(part, static_cast<unsigned>(ranks[self].mask.size())));
}

std::string plural(std::size_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

}  // namespace

Topology read_topology(const fs::path& cgroup_root, const fs::path& proc_cgroup) {
  Topology topology;
  topology.mask = affinity_mask();
  read_machine(topology);
  topology.quota_cpus = cgroup_quota(cgroup_root, proc_cgroup);
  topology.omp_threads = omp_num_threads();
  return topology;
}

unsigned team_size(const Topology& here, const std::vector<HostRank>& host_ranks, std::size_t self,
                   unsigned requested) {
  if (requested != 0) return requested;
  const std::vector<HostRank> ranks = all_or_me(here, host_ranks);
  if (self >= ranks.size()) fail(Errc::internal, "rank is not one of its host's");
  unsigned threads = mask_share(ranks, self);
  if (here.quota_cpus) {
    const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(*here.quota_cpus)));
    threads = std::min(threads, part_of(whole, ranks.size(), self));
  }
  if (here.omp_threads) threads = std::min(threads, *here.omp_threads);
  return std::max(1U, threads);
}

std::string placement_warning(const Topology& here, const std::vector<HostRank>& host_ranks,
                              unsigned threads, bool under_mpirun) {
  const std::vector<HostRank> ranks = all_or_me(here, host_ranks);
  std::set<unsigned> all;
  for (const HostRank& rank : ranks) all.insert(rank.mask.begin(), rank.mask.end());

  // 1. More threads than cores. Which rank we are is not known here; one with our mask stands for
  // us.
  const auto me = std::ranges::find(ranks, here.mask, &HostRank::mask);
  const Rivals rivals = rivals_of(ranks, me == ranks.end() ? 0 : std::size_t(me - ranks.begin()));
  const std::size_t fair = (rivals.cpus.size() + rivals.ranks.size() - 1) / rivals.ranks.size();
  const std::size_t most = std::max<std::size_t>(1, std::min(fair, here.mask.size()));
  if (threads > most) {
    const std::string cause = here.omp_threads == threads ? "OMP_NUM_THREADS" : "--threads";
    return cause + "=" + std::to_string(threads) + " is more than the " + plural(most, "core") +
           " of this rank, so threads wait for each other; use --threads " + std::to_string(most) +
           " or leave it out";
  }
  // 2. A quota makes cores of the mask useless.
  const bool quota_binds = here.quota_cpus && *here.quota_cpus < static_cast<double>(all.size());
  if (quota_binds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", *here.quota_cpus);
    return std::string("the cgroup of this process allows ") + text.data() + " of " +
           plural(all.size(), "core") +
           "; raise the CPU limit (docker --cpus, Kubernetes limits.cpu, systemd CPUQuota) to use "
           "them all";
  }
  // 3. mpirun bound the ranks to fewer cores than there are.
  const bool quota_forbids =
      here.quota_cpus && *here.quota_cpus < static_cast<double>(all.size()) + 1.0;
  if (!under_mpirun || all.size() >= here.machine_cpus || quota_forbids) return {};
  const std::size_t cores = here.machine_cpus / std::max(1U, here.cpus_per_core);
  const std::size_t per_rank = cores / ranks.size();
  const bool helps =
      per_rank * ranks.size() * std::max(1U, here.cpus_per_core) > all.size() && per_rank > 0;
  const std::string who =
      ranks.size() == 1 ? "this rank" : "the " + plural(ranks.size(), "rank") + " of this host";
  const std::string how =
      helps ? "'mpirun --map-by slot:PE=" + std::to_string(per_rank) + "' (or --bind-to none)"
            : "'mpirun --bind-to none'";
  return who + " may use " + std::to_string(all.size()) + " of " +
         plural(here.machine_cpus, "core") + "; start with " + how + " to use them all";
}

std::uint64_t peak_memory_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  struct rusage usage {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace coppice
