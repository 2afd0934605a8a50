// CPU masks, quotas of fake cgroup trees, team sizes and the placement line.
#include "node/topology.hpp"

#include <sched.h>
#include <sys/wait.h>

#include <cstdlib>
#include <numeric>

#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;

class OmpThreads {
 public:
  explicit OmpThreads(const char* value) {
    if (value == nullptr) {
      ::unsetenv("OMP_NUM_THREADS");
    } else {
      ::setenv("OMP_NUM_THREADS", value, 1);
    }
  }
  ~OmpThreads() { ::unsetenv("OMP_NUM_THREADS"); }
};

// A cgroup file system and /proc/self/cgroup in a folder.
class FakeCgroup {
 public:
  void file(const std::string& path, const std::string& content) const {
    const fs::path whole = folder_.path() / "cg" / path;
    fs::create_directories(whole.parent_path());
    put(whole, content);
  }
  void v1(const std::string& group, const std::string& quota, const std::string& period) const {
    file(group + "/cpu.cfs_quota_us", quota + "\n");
    file(group + "/cpu.cfs_period_us", period + "\n");
  }
  [[nodiscard]] std::optional<double> quota(const std::string& proc) const {
    put(folder_.path() / "proc", proc);
    return read_topology(folder_.path() / "cg", folder_.path() / "proc").quota_cpus;
  }

 private:
  TempFolder folder_;
};

std::vector<unsigned> cpus(unsigned first, unsigned count) {
  std::vector<unsigned> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return mask;
}

Topology machine(unsigned all, std::vector<unsigned> mask) {
  Topology t;
  t.mask = std::move(mask);
  t.machine_cpus = all;
  return t;
}

unsigned team(const Topology& here, const std::vector<HostRank>& ranks, std::size_t self) {
  Topology mine = here;
  mine.mask = ranks[self].mask;
  return team_size(mine, ranks, self, 0);
}

TEST(Topology, MaskIsThatOfTheScheduler) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Topology before = read_topology();
    const unsigned last = before.mask.back();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) ::_exit(2);
    const Topology after = read_topology();
    // Binding narrows the mask and not the machine.
    ::_exit(after.mask == std::vector<unsigned>{last} &&
                    after.machine_cpus == before.machine_cpus &&
                    before.machine_cpus >= before.mask.size() && after.cpus_per_core >= 1
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Topology, OmpNumThreads) {
  const auto read = [](const char* value) {
    const OmpThreads set(value);
    return read_topology().omp_threads;
  };
  EXPECT_EQ(read("4"), 4U);
  EXPECT_EQ(read("4,2"), 4U);
  EXPECT_EQ(read(" 8 , 2"), 8U);
  for (const char* bad : {"", "0", "-1", "four", "4x", "4 2", ",4", "99999999999", "1e3", "0x4"}) {
    EXPECT_EQ(read(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(read(nullptr), std::nullopt);
}

TEST(Topology, QuotaV2) {
  const FakeCgroup cg;
  cg.file("cpu.max", "max 100000\n");
  cg.file("a/cpu.max", "200000 100000\n");
  cg.file("a/b/cpu.max", "max 100000\n");
  cg.file("a/b/c/cpu.max", "150000 100000\n");
  cg.file("wide/cpu.max", "800000 100000\n");
  cg.file("garbage/cpu.max", "lots of them\n");
  cg.file("zero/cpu.max", "100000 0\n");
  EXPECT_EQ(cg.quota("0::/a\n"), 2.0);
  EXPECT_EQ(cg.quota("0::/a/b\n"), 2.0);  // the limit of a group above holds
  EXPECT_EQ(cg.quota("0::/a/b/c\n"), 1.5);
  EXPECT_EQ(cg.quota("0::/wide\n"), 8.0);
  EXPECT_EQ(cg.quota("0::/\n"), std::nullopt);
  EXPECT_EQ(cg.quota("0::/garbage\n"), std::nullopt);
  EXPECT_EQ(cg.quota("0::/zero\n"), std::nullopt);
  EXPECT_EQ(cg.quota("0::/nowhere\n"), std::nullopt);
  EXPECT_EQ(cg.quota("nonsense\n\n::\n"), std::nullopt);
  EXPECT_EQ(cg.quota(""), std::nullopt);
}

TEST(Topology, QuotaV2OfAContainer) {
  const FakeCgroup cg;
  cg.file("cpu.max", "50000 100000\n");
  EXPECT_EQ(cg.quota("0::/\n"), 0.5);
  EXPECT_EQ(cg.quota("0::/docker/0123abc\n"), 0.5);  // the host's path, not mounted here
  EXPECT_EQ(cg.quota("0::/../../outside\n"), 0.5);
}

TEST(Topology, QuotaV1) {
  for (const std::string mount : {"cpu,cpuacct", "cpu"}) {
    const FakeCgroup cg;
    cg.v1(mount, "-1", "100000");
    cg.v1(mount + "/a", "200000", "100000");
    cg.v1(mount + "/a/b", "-1", "100000");
    cg.v1(mount + "/a/b/c", "50000", "100000");
    const auto quota = [&](const std::string& path) {
      return cg.quota("9:name=systemd:/x\n7:cpuset:/\n4:" + mount + ":" + path + "\n1:memory:/m\n");
    };
    EXPECT_EQ(quota("/"), std::nullopt);
    EXPECT_EQ(quota("/a"), 2.0);
    EXPECT_EQ(quota("/a/b"), 2.0);
    EXPECT_EQ(quota("/a/b/c"), 0.5);
    EXPECT_EQ(quota("/unknown"), std::nullopt);
  }
}

TEST(Topology, QuotaHybrid) {
  const FakeCgroup cg;
  cg.v1("cpu,cpuacct/job", "300000", "100000");
  cg.file("unified/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(cg.quota("4:cpu,cpuacct:/job\n0::/\n"), 3.0);
  EXPECT_EQ(cg.quota("4:cpu,cpuacct:/job\n0::/job\n"), 2.5);
  EXPECT_EQ(cg.quota("4:cpuset:/job\n"), std::nullopt);
}

TEST(TeamSize, OneRank) {
  Topology here = machine(8, cpus(0, 8));
  EXPECT_EQ(team_size(here, {{here.mask}}, 0, 0), 8U);
  EXPECT_EQ(team_size(here, {}, 0, 0), 8U);
  EXPECT_EQ(team_size(here, {}, 0, 20), 20U);  // asked for by name
  here.quota_cpus = 3.9;
  EXPECT_EQ(team_size(here, {}, 0, 0), 3U);
  here.quota_cpus = 0.2;
  EXPECT_EQ(team_size(here, {}, 0, 0), 1U);
  here.quota_cpus = 100;
  EXPECT_EQ(team_size(here, {}, 0, 0), 8U);
  here.omp_threads = 2;
  EXPECT_EQ(team_size(here, {}, 0, 0), 2U);
  here.omp_threads = 64;
  EXPECT_EQ(team_size(here, {}, 0, 0), 8U);
  EXPECT_EQ(team_size(here, {}, 0, 5), 5U);
}

TEST(TeamSize, RanksShareWhatTheirMasksShare) {
  const Topology here = machine(8, {});
  // Disjoint: each its own. The same: an even part, the rest to the lower ranks.
  const std::vector<HostRank> apart = {{cpus(0, 4)}, {cpus(4, 4)}};
  EXPECT_EQ(team(here, apart, 0), 4U);
  EXPECT_EQ(team(here, apart, 1), 4U);
  const std::vector<HostRank> same(3, {cpus(0, 8)});
  EXPECT_EQ(team(here, same, 0), 3U);
  EXPECT_EQ(team(here, same, 1), 3U);
  EXPECT_EQ(team(here, same, 2), 2U);
  // Two share, one is alone.
  const std::vector<HostRank> mixed = {{cpus(0, 4)}, {cpus(4, 4)}, {cpus(0, 4)}};
  EXPECT_EQ(team(here, mixed, 0), 2U);
  EXPECT_EQ(team(here, mixed, 1), 4U);
  EXPECT_EQ(team(here, mixed, 2), 2U);
  // More ranks than CPUs: one thread each.
  const std::vector<HostRank> crowd(5, {cpus(0, 2)});
  for (std::size_t i = 0; i < crowd.size(); ++i) EXPECT_EQ(team(here, crowd, i), 1U);
  // Never more than the own mask, also when the union is large.
  const std::vector<HostRank> uneven = {{cpus(0, 1)}, {cpus(0, 8)}};
  EXPECT_EQ(team(here, uneven, 0), 1U);
  EXPECT_EQ(team(here, uneven, 1), 4U);
}

TEST(TeamSize, RanksShareTheQuota) {
  Topology here = machine(8, {});
  here.quota_cpus = 5.5;
  const std::vector<HostRank> apart = {{cpus(0, 4)}, {cpus(4, 4)}};
  EXPECT_EQ(team(here, apart, 0), 3U);
  EXPECT_EQ(team(here, apart, 1), 2U);
  here.quota_cpus = 1;
  EXPECT_EQ(team(here, apart, 0), 1U);
  EXPECT_EQ(team(here, apart, 1), 1U);
}

TEST(Placement, SilentWhenAllIsWell) {
  EXPECT_EQ(placement_warning(machine(2, cpus(0, 2)), {{cpus(0, 2)}}, 2, true), "");
  EXPECT_EQ(placement_warning(machine(2, cpus(0, 2)), {}, 2, false), "");
  // Two ranks on one core each of two.
  EXPECT_EQ(placement_warning(machine(2, cpus(0, 1)), {{cpus(0, 1)}, {cpus(1, 1)}}, 1, true), "");
  // Unbound ranks with their shares, uneven too.
  EXPECT_EQ(placement_warning(machine(3, cpus(0, 3)), {{cpus(0, 3)}, {cpus(0, 3)}}, 2, true), "");
  // Outside of mpirun a small mask is the user's own wish (taskset, a batch system).
  EXPECT_EQ(placement_warning(machine(8, cpus(0, 1)), {}, 1, false), "");
}

TEST(Placement, NamesTheFlagOfMpirun) {
  EXPECT_EQ(placement_warning(machine(2, cpus(0, 1)), {{cpus(0, 1)}}, 1, true),
            "this rank may use 1 of 2 cores; start with 'mpirun --map-by slot:PE=2' "
            "(or --bind-to none) to use them all");
  EXPECT_EQ(placement_warning(machine(8, cpus(0, 1)), {{cpus(0, 1)}, {cpus(1, 1)}}, 1, true),
            "the 2 ranks of this host may use 2 of 8 cores; start with 'mpirun --map-by slot:PE=4' "
            "(or --bind-to none) to use them all");
  // PE counts cores: 8 CPUs are 4 of them here.
  Topology smt = machine(8, cpus(0, 2));
  smt.cpus_per_core = 2;
  EXPECT_TRUE(contains(placement_warning(smt, {}, 2, true), "slot:PE=4'"));
  // Two ranks on the same core; three ranks that PE cannot help on four cores.
  EXPECT_TRUE(
      contains(placement_warning(machine(2, cpus(0, 1)), {{cpus(0, 1)}, {cpus(0, 1)}}, 1, true),
               "may use 1 of 2 cores; start with 'mpirun --map-by slot:PE=1'"));
  EXPECT_TRUE(contains(placement_warning(machine(4, cpus(0, 1)),
                                         {{cpus(0, 1)}, {cpus(1, 1)}, {cpus(2, 1)}}, 1, true),
                       "start with 'mpirun --bind-to none' to use them all"));
}

TEST(Placement, QuotaAndOversubscription) {
  Topology here = machine(4, cpus(0, 4));
  here.quota_cpus = 1.5;
  const std::string quota = placement_warning(here, {}, 1, false);
  EXPECT_TRUE(contains(quota, "allows 1.5 of 4 cores")) << quota;
  here.quota_cpus = 4;
  EXPECT_EQ(placement_warning(here, {}, 4, false), "");
  // A binding that costs nothing, because the quota forbids more anyway.
  Topology bound = machine(4, cpus(0, 1));
  bound.quota_cpus = 1;
  EXPECT_EQ(placement_warning(bound, {}, 1, true), "");

  const std::string many = placement_warning(here, {}, 9, false);
  EXPECT_TRUE(contains(many, "--threads=9 is more than the 4 cores of this rank")) << many;
  const std::string shared = placement_warning(here, {{here.mask}, {here.mask}}, 4, true);
  EXPECT_TRUE(contains(shared, "more than the 2 cores of this rank")) << shared;
  here.omp_threads = 9;
  EXPECT_TRUE(contains(placement_warning(here, {}, 9, false), "OMP_NUM_THREADS=9"));
}

TEST(Host, MemoryAndName) {
  const std::uint64_t before = peak_memory_bytes();
  EXPECT_GT(before, 1U << 20);
  std::vector<char> block(64 << 20, 'x');
  EXPECT_EQ(std::accumulate(block.begin(), block.end(), 0L), long{'x'} * (64 << 20));
  EXPECT_GE(peak_memory_bytes(), before);
  EXPECT_GE(peak_memory_bytes(), std::uint64_t{64} << 20);
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace coppice
