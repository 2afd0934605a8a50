// How this process was launched, from the environment alone.
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cluster/mpi/session.hpp"

namespace coppice {
namespace {

std::optional<int> env_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || at != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Launch read_launch() {
  struct Names {
    const char* rank;
    const char* size;
  };
  // mpirun of Open MPI; MPICH and Intel MPI (Hydra).
  constexpr std::array<Names, 2> kLaunchers = {
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}};
  Launch launch;
  for (const Names& names : kLaunchers) {
    const auto rank = env_number(names.rank);
    const auto size = env_number(names.size);
    if (rank && size) {
      launch.by_launcher = true;
      launch.rank = *rank;
      launch.size = *size;
      return launch;
    }
  }
  const int slurm_tasks = env_number("SLURM_STEP_NUM_TASKS").value_or(
      env_number("SLURM_NTASKS").value_or(1));
  if (std::getenv("PMIX_RANK") != nullptr) {  // srun --mpi=pmix
    launch.by_launcher = true;
    launch.rank = env_number("PMIX_RANK").value_or(0);
    launch.size = slurm_tasks;
    return launch;
  }
  if (slurm_tasks > 1) {
    launch.rank = env_number("SLURM_PROCID").value_or(0);
    launch.size = slurm_tasks;
    launch.problem = "Slurm has " + std::to_string(slurm_tasks) +
                     " tasks but gives this program no way to connect them; start it with "
                     "'srun --mpi=pmix' or 'mpirun'";
  }
  return launch;
}

}  // namespace coppice
