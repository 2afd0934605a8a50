// Starts and ends message passing for one process; says how it was launched without starting it.
#pragma once

#include <memory>
#include <string>

#include "cluster/mpi/comm.hpp"

namespace coppice {

// What the environment tells before MPI_Init (Open MPI, PMIx, PMI and Slurm variables).
struct Launch {
  bool by_launcher = false;  // mpirun, srun or another process manager
  int rank = 0;
  int size = 1;
  // Not empty: a launcher started several processes, but gives no way to connect them (srun without
  // PMIx); the text has the remedy.
  std::string problem;
};
[[nodiscard]] Launch read_launch();

// Lives in main() for the whole run. With a launcher: MPI_Init_thread(FUNNELED) and MPI_Finalize;
// without, or built without MPI: one rank. Errc::config when the library cannot do what is needed or
// its size differs from the launcher's (a program of another MPI under this mpirun).
class Session {
 public:
  explicit Session(const Launch& launch);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  [[nodiscard]] Comm& comm() noexcept { return *comm_; }

 private:
  std::unique_ptr<Comm> comm_;
  bool initialised_ = false;
};

// "Open MPI v4.1.4, ..." or "none": without MPI_Init.
[[nodiscard]] std::string mpi_library();

}  // namespace coppice
