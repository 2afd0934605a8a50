// Benchmarks behind "coppice bench": measured interleaved in one run, so that ratios hold.
#include "cluster/cli/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "core/base/version.hpp"
#include "core/hash/dispatch.hpp"
#include "proto/result.pb.h"

namespace coppice {

std::vector<BenchFigure> measure(const std::vector<BenchCase>& cases, unsigned rounds) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(cases.size());
  for (const BenchCase& c : cases) c.run();  // warm caches and page in
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto before = Clock::now();
      cases[i].run();
      const std::chrono::duration<double, std::nano> spent = Clock::now() - before;
      times[i].push_back(spent.count() / cases[i].items);
    }
  }
  std::vector<BenchFigure> figures;
  for (std::vector<double>& t : times) {
    std::ranges::sort(t);
    figures.push_back({t.front(), t[t.size() / 2]});
  }
  return figures;
}

void report(const std::vector<BenchCase>& cases, const std::vector<BenchFigure>& figures,
            const CliContext& context) {
  v1::BenchResult m;
  m.set_schema_version(kSchemaVersion);
  m.set_program_version(kVersion);
  m.set_cpu(cpu_features());
  std::string out = fmt::format("# coppice {} bench; {}\n# one thread; nanoseconds, minimum and median "
                                "of interleaved slices\n"
                                "# {:<38} {:<10} {:>12} {:>12} {:>10} {:>8}\n",
                                kVersion, cpu_features(), "case", "kernel", "min ns", "median ns",
                                "ns/hash", "ratio");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double per_hash = figures[i].minimum / cases[i].hashes_per_item;
    const double ratio = figures[cases[i].baseline].minimum / figures[i].minimum;
    v1::BenchRow& row = *m.add_rows();
    row.set_name(cases[i].name);
    row.set_kernel(cases[i].kernel);
    row.set_nanoseconds_min(figures[i].minimum);
    row.set_nanoseconds_median(figures[i].median);
    row.set_nanoseconds_per_hash(per_hash);
    row.set_ratio_to_portable(ratio);
    out += fmt::format("  {:<38} {:<10} {:>12.1f} {:>12.1f} {:>10.2f} {:>8.2f}\n", cases[i].name,
                       cases[i].kernel, figures[i].minimum, figures[i].median, per_hash, ratio);
  }
  print(context.common.format == Format::json ? json(m) : out);
}

void add_bench(CLI::App& app, CliContext& context) {
  CLI::App& verb = *app.add_subcommand("bench", "Measure kernels and schemes on this machine");
  verb.require_subcommand(1);
  add_bench_lms(verb, context);
}

}  // namespace coppice
