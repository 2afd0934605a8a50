// Option helpers that several verbs share.
#include "cluster/cli/options.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "node/atomic_file.hpp"
#include "node/topology.hpp"

namespace coppice {
namespace {

std::string env_name(const std::string& flag) {
  std::string name = "COPPICE_";
  for (const char c : flag.substr(flag.rfind("--") + 2)) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

CLI::Option* add_value(CLI::App& app, const std::string& flag, std::string& value,
                       const std::string& help) {
  return app.add_option(flag, value, help)->envname(env_name(flag));
}

CLI::Option* add_switch(CLI::App& app, const std::string& flag, bool& value,
                        const std::string& help) {
  return app.add_flag(flag, value, help)->envname(env_name(flag));
}

void add_format(CLI::App& app, CliContext& context) {
  const std::map<std::string, Format> names = {{"text", Format::text}, {"json", Format::json}};
  app.add_option("--format", context.common.format, "text or json (one object on stdout)")
      ->transform(CLI::CheckedTransformer(names))
      ->option_text("FORMAT")
      ->envname("COPPICE_FORMAT");
}

void add_compute(CLI::App& app, CliContext& context) {
  app.add_option("--threads", context.common.threads,
                 "threads per rank (default: from the CPU mask, quota and OMP_NUM_THREADS)")
      ->check(CLI::Range(1U, 4096U))
      ->option_text("N")
      ->envname("COPPICE_THREADS");
  add_value(app, "--kernel", context.common.kernel,
            "force a hash kernel (see 'coppice --version')")
      ->option_text("NAME");
}

void add_logging(CLI::App& app, CliContext& context) {
  app.add_flag("-q,--quiet", context.common.quiet, "errors only on stderr")->envname("COPPICE_QUIET");
  app.add_flag("-v,--verbose", context.common.verbose, "more on stderr; twice for everything");
}

unsigned local_threads(const CommonOptions& common) {
  const Topology here = read_topology();
  return team_size(here, {{here.mask}}, 0, common.threads);
}

void complain(const std::string& text) {
  std::string line = "coppice: ";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  line += '\n';
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

void print(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, "cannot write the result to stdout");
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace coppice
