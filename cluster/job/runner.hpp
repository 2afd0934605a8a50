// Key generation over ranks: broadcast, compute, gather; rank 0 starts and finishes the files.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/job/spec.hpp"
#include "cluster/mpi/comm.hpp"

namespace coppice {

// Rank 0 has failed and says why itself; the other ranks leave with the same code in silence.
struct QuietExit {
  int exit_code;
};

// A failure that every rank knows of and unwinds from. Any other Error is one rank's own: the ranks that
// wait for it must be ended by Comm::abort.
class SharedError : public Error {
 public:
  using Error::Error;
};

// What this rank is doing, for the report of a failure.
void set_phase(std::string phase);
[[nodiscard]] std::string phase();

// Collective. `request` is given on rank 0 and null elsewhere; the result is filled on rank 0.
// SharedError(interrupted) on all ranks after a stop signal: the key file stays marked as generating.
// Where rank 0 fails (files, self-check) it throws SharedError and the others QuietExit.
std::optional<JobResult> run_keygen(Comm& comm, const KeygenRequest* request);

// Collective: the same set-up and a short calibration, nothing written, nothing drawn.
std::optional<DryRun> run_dry(Comm& comm, const KeygenRequest* request);

}  // namespace coppice
