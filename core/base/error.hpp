// The one error type of the project and its mapping to exit codes (sysexits numbers, all < 128).
#pragma once

#include <stdexcept>
#include <string>

namespace coppice {

// The value is the exit code of the process. Every number is below 128, so mpirun passes it on.
enum class Errc : int {
  answer_no = 1,     // the operation worked and its answer is "no" (a bad signature)
  usage = 2,         // wrong flag or wrong combination
  bad_data = 65,     // an input file is damaged or of another kind
  unavailable = 69,  // something this needs is not there now (locked key, no kernel)
  internal = 70,     // a check of our own failed
  exists = 73,       // would overwrite
  io = 74,           // read or write failed
  interrupted = 75,  // stopped by a signal; can be resumed
  permission = 77,   // not allowed
  config = 78,       // configuration or environment is wrong
};

class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] Errc code() const noexcept { return code_; }
  [[nodiscard]] int exit_code() const noexcept { return static_cast<int>(code_); }

 private:
  Errc code_;
};

[[noreturn]] inline void fail(Errc code, const std::string& what) { throw Error(code, what); }

}  // namespace coppice
