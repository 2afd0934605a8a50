// How the program was launched, from tables of environments of mpirun, srun and others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "cluster/mpi/session.hpp"

namespace coppice {
namespace {

using Env = std::map<std::string, std::string>;

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "PMIX_RANK",
                                      "SLURM_NTASKS",
                                      "SLURM_PROCID",
                                      "SLURM_STEP_NUM_TASKS"};

// These variables and no others of theirs for one call; the environment of ctest comes back
// afterwards.
Launch launched(const Env& env) {
  Env before;
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name)) before[name] = value;
    ::unsetenv(name);
  }
  for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
  const Launch launch = read_launch();
  for (const char* name : kVariables) ::unsetenv(name);
  for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
  return launch;
}

struct Row {
  const char* what;
  Env env;
  bool by_launcher;
  int rank;
  int size;
  bool problem;
};

TEST(Launch, Tables) {
  const Row rows[] = {
      {"plain start", {}, false, 0, 1, false},
      {"Open MPI",
       {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}},
       true,
       3,
       8,
       false},
      {"Open MPI, one rank",
       {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}},
       true,
       0,
       1,
       false},
      {"Open MPI in sbatch: the allocation's number is not ours",
       {{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "2"},
        {"SLURM_NTASKS", "64"},
        {"SLURM_PROCID", "0"},
        {"PMIX_RANK", "1"}},
       true,
       1,
       2,
       false},
      {"MPICH", {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}, true, 2, 4, false},
      {"srun --mpi=pmi2",
       {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}},
       true,
       2,
       4,
       false},
      {"srun --mpi=pmix",
       {{"PMIX_RANK", "5"},
        {"SLURM_STEP_NUM_TASKS", "6"},
        {"SLURM_NTASKS", "12"},
        {"SLURM_PROCID", "5"}},
       true,
       5,
       6,
       false},
      {"srun --mpi=pmix, one task", {{"PMIX_RANK", "0"}, {"SLURM_NTASKS", "1"}}, true, 0, 1, false},
      {"srun without a connection",
       {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}},
       false,
       2,
       4,
       true},
      {"its step alone counts",
       {{"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_NTASKS", "9"}, {"SLURM_PROCID", "1"}},
       false,
       1,
       3,
       true},
      {"a step of one task",
       {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "9"}, {"SLURM_PROCID", "0"}},
       false,
       0,
       1,
       false},
      {"sbatch -n 1", {{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}}, false, 0, 1, false},
      {"half an Open MPI", {{"OMPI_COMM_WORLD_SIZE", "8"}}, false, 0, 1, false},
      {"half a PMI", {{"PMI_RANK", "1"}}, false, 0, 1, false},
      {"no numbers",
       {{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "8"}},
       false,
       0,
       1,
       false},
      {"trailing text", {{"PMI_RANK", "1 "}, {"PMI_SIZE", "2"}}, false, 0, 1, false},
      {"negative",
       {{"OMPI_COMM_WORLD_RANK", "-1"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       false,
       0,
       1,
       false},
      {"too large", {{"SLURM_NTASKS", "99999999999"}}, false, 0, 1, false},
      {"empty", {{"SLURM_NTASKS", ""}, {"PMI_RANK", ""}, {"PMI_SIZE", ""}}, false, 0, 1, false},
  };
  for (const Row& row : rows) {
    const Launch launch = launched(row.env);
    EXPECT_EQ(launch.by_launcher, row.by_launcher) << row.what;
    EXPECT_EQ(launch.rank, row.rank) << row.what;
    EXPECT_EQ(launch.size, row.size) << row.what;
    EXPECT_EQ(!launch.problem.empty(), row.problem) << row.what;
  }
}

TEST(Launch, TheProblemHasItsRemedy) {
  const Launch launch = launched({{"SLURM_NTASKS", "4"}});
  EXPECT_NE(launch.problem.find("4 tasks"), std::string::npos);
  EXPECT_NE(launch.problem.find("srun --mpi=pmix"), std::string::npos);
  try {
    const Session session(launch);
    ADD_FAILURE() << "a session was made";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::usage);
  }
}

TEST(Launch, APlainStartIsOneRank) {
  Session session(launched({}));
  EXPECT_EQ(session.comm().size(), 1);
  EXPECT_TRUE(session.comm().root());
  EXPECT_NE(mpi_library(), "");
}

}  // namespace
}  // namespace coppice
