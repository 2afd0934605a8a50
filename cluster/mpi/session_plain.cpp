// Session of a build without MPI: always one rank.
#include "cluster/mpi/session.hpp"

namespace coppice {

Session::Session(const Launch& launch) {
  if (!launch.problem.empty()) fail(Errc::usage, launch.problem);
  if (launch.size > 1) {
    fail(Errc::config, "this build has no MPI; build it with -DCOPPICE_MPI=ON to run " +
                           std::to_string(launch.size) + " ranks");
  }
  comm_ = std::make_unique<SelfComm>();
}

Session::~Session() = default;

std::string mpi_library() { return "none"; }

}  // namespace coppice
