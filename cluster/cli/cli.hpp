// The command line: verbs, the common options and the mapping of failures to output and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cluster/mpi/session.hpp"
#include "node/progress.hpp"

namespace coppice {

enum class Format { text, json };

// Options that every verb has.
struct CommonOptions {
  bool quiet = false;
  unsigned verbose = 0;
  Format format = Format::text;
  unsigned threads = 0;
  std::string kernel;
};

// What a verb needs from the outside. Only verbs over ranks make a Session.
struct CliContext {
  Launch launch;
  CommonOptions common;
  std::function<int()> run;  // set by the callback of the chosen verb

  // A verb over ranks has one voice, rank 0's. The others are each process's own affair, under a
  // launcher too: what a process was asked to verify is verified, and it says what is wrong.
  [[nodiscard]] bool speaks(std::string_view verb) const noexcept {
    return launch.rank == 0 || verb == "sign" || verb == "verify" || verb == "inspect" ||
           verb == "selftest";
  }
};

// One file per verb; each adds its subcommand and, when chosen, sets context.run.
void add_keygen(CLI::App& app, CliContext& context);
void add_sign(CLI::App& app, CliContext& context);
void add_verify(CLI::App& app, CliContext& context);
void add_inspect(CLI::App& app, CliContext& context);
void add_list_params(CLI::App& app, CliContext& context);
void add_selftest(CLI::App& app, CliContext& context);
void add_bench(CLI::App& app, CliContext& context);

// Never throws. Returns the exit code (core/base/error.hpp).
[[nodiscard]] int run_program(int argc, char** argv) noexcept;

}  // namespace coppice
