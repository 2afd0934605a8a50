// Benchmarks behind "coppice bench": measured interleaved in one run, so that ratios hold.
#include "cluster/cli/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cluster/cli/cycles.hpp"
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
            const std::string& note, const CliContext& context) {
  const double gigahertz = core_gigahertz();
  v1::BenchResult m;
  m.set_schema_version(kSchemaVersion);
  m.set_program_version(kVersion);
  m.set_cpu(cpu_features());
  m.set_compiler(__VERSION__);
  m.set_core_gigahertz(gigahertz);
  m.set_ratio_to(note);
  std::string out = fmt::format(
      "# coppice {}, compiler {}, core at {:.2f} GHz (calibrated), {}\n"
      "# one thread; minimum and median of interleaved slices; ratio to {}\n"
      "# {:<36} {:<9} {:>11} {:>11} {:>8} {:>8} {:>7} {:>7}\n",
      kVersion, __VERSION__, gigahertz, cpu_features(), note, "case", "kernel", "min ns", "median ns",
      "ns/hash", "cyc/hash", "bound", "ratio");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double per_hash = figures[i].minimum / cases[i].hashes_per_item;
    const double cycles = per_hash * gigahertz;
    const double ratio = figures[cases[i].baseline].minimum / cases[cases[i].baseline].hashes_per_item /
                         per_hash;
    const double share = cycles > 0 ? cases[i].bound / cycles : 0;
    v1::BenchRow& row = *m.add_rows();
    row.set_name(cases[i].name);
    row.set_kernel(cases[i].kernel);
    row.set_nanoseconds_min(figures[i].minimum);
    row.set_nanoseconds_median(figures[i].median);
    row.set_nanoseconds_per_hash(per_hash);
    row.set_cycles_per_hash(cycles);
    row.set_share_of_bound(share);
    row.set_ratio(ratio);
    out += fmt::format("  {:<36} {:<9} {:>11.1f} {:>11.1f} {:>8.2f} {:>8.1f} {:>7} {:>7.2f}\n",
                       cases[i].name, cases[i].kernel, figures[i].minimum, figures[i].median, per_hash,
                       cycles, share > 0 ? fmt::format("{:.0f} %", 100 * share) : "", ratio);
  }
  print(context.common.format == Format::json ? json(m) : out);
}

double operation_bound(const HashMany& kernel, bool fixed_block) noexcept {
  constexpr double kPerCycle = 4;
  if (kernel.name != "avx512") return 0;
  // SHA-256: 64 rounds of 17, 48 schedule words of 11, 8 additions; a chain step whose block is known
  // except for the digest saves 119 of them. Keccak-f[1600]: 24 rounds of 90.
  if (kernel.hash == HashId::sha256) return (fixed_block ? 1505 : 1624) / kPerCycle / 16;
  if (kernel.hash == HashId::shake256) return 2160 / kPerCycle / 8;
  return 0;
}

void add_bench(CLI::App& app, CliContext& context) {
  CLI::App& verb = *app.add_subcommand("bench", "Measure kernels and schemes on this machine");
  verb.require_subcommand(1);
  add_bench_kernels(verb, context);
  add_bench_lms(verb, context);
}

}  // namespace coppice
