// Option helpers that several verbs share.
#pragma once

#include <string>

#include "cluster/cli/cli.hpp"

namespace coppice {

// add_option with the environment name COPPICE_<LONG NAME> and the flag's help.
CLI::Option* add_value(CLI::App& app, const std::string& flag, std::string& value,
                       const std::string& help);
CLI::Option* add_switch(CLI::App& app, const std::string& flag, bool& value, const std::string& help);

// --format, --threads, --kernel, -q, -v as a verb's own options.
void add_format(CLI::App& app, CliContext& context);
void add_compute(CLI::App& app, CliContext& context);
void add_logging(CLI::App& app, CliContext& context);

// Threads for work on this host alone: --threads, or the affinity mask and quota.
[[nodiscard]] unsigned local_threads(const CommonOptions& common);

// One write(2) of a whole result; Errc::io when stdout cannot take it (a full disk, a closed pipe).
void print(const std::string& text);

// "coppice: TEXT" on stderr in one write, so that lines of several ranks cannot mix. A file name or a
// damaged file that is quoted may hold line ends and escape codes: the terminal must not obey them.
void complain(const std::string& text);

}  // namespace coppice
