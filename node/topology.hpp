// What this process may use: its CPU mask, cgroup quota and OMP_NUM_THREADS; how many threads to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

struct Topology {
  std::vector<unsigned> mask;           // CPUs of sched_getaffinity, ascending
  unsigned machine_cpus = 1;            // CPUs this container may use at all (hwloc allowed set)
  std::optional<double> quota_cpus;     // cgroup v2 cpu.max or v1 cfs_quota, smallest on the path
  std::optional<unsigned> omp_threads;  // OMP_NUM_THREADS (first of the list)
  unsigned cpus_per_core = 1;           // hardware threads; mpirun's PE=N counts cores
};

// `cgroup_root` and `proc_cgroup` are parameters for tests: /sys/fs/cgroup and /proc/self/cgroup.
[[nodiscard]] Topology read_topology(const std::filesystem::path& cgroup_root = "/sys/fs/cgroup",
                                     const std::filesystem::path& proc_cgroup = "/proc/self/cgroup");

// One process of this host as the others see it.
struct HostRank {
  std::vector<unsigned> mask;
};

// Threads of this process: `requested` (0: not given) if set, else the smallest of mask share, quota
// share and OMP_NUM_THREADS, at least 1. Ranks of one host whose masks overlap share them evenly, and
// all of them share the quota.
[[nodiscard]] unsigned team_size(const Topology& here, const std::vector<HostRank>& host_ranks,
                                 std::size_t self, unsigned requested);

// One line naming the cause and the flag when cores stay idle, else empty: union of the masks smaller
// than machine_cpus under mpirun ("--map-by slot:PE=N"), quota below the mask, or oversubscription by
// --threads or OMP_NUM_THREADS.
[[nodiscard]] std::string placement_warning(const Topology& here,
                                            const std::vector<HostRank>& host_ranks,
                                            unsigned threads, bool under_mpirun);

// Peak resident set of this process in bytes (VmHWM).
[[nodiscard]] std::uint64_t peak_memory_bytes();
[[nodiscard]] std::string host_name();

}  // namespace coppice
