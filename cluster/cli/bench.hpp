// Benchmarks behind "coppice bench": measured interleaved in one run, so that ratios hold.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/cli/cli.hpp"
#include "core/hash/hash_many.hpp"

namespace coppice {

// One thing to time. `run` is a short slice (about a millisecond) that does `items` items.
struct BenchCase {
  std::string name;
  std::string kernel;
  double items = 1;           // per slice
  double hashes_per_item = 1; // compressions or permutations
  double bound = 0;           // cycles per hash at which this kernel's operations fill the core, 0: none
  std::size_t baseline = 0;   // index of the case that its ratio refers to
  std::function<void()> run;
};

struct BenchFigure {
  double minimum = 0;  // nanoseconds per item
  double median = 0;
};

// Runs all cases in turn, `rounds` times, so that a disturbance hits all of them alike. Minimum and
// median over the rounds.
[[nodiscard]] std::vector<BenchFigure> measure(const std::vector<BenchCase>& cases, unsigned rounds);

// Table or JSON of the figures on stdout. `note` says what the ratio refers to.
void report(const std::vector<BenchCase>& cases, const std::vector<BenchFigure>& figures,
            const std::string& note, const CliContext& context);

void add_bench_lms(CLI::App& bench, CliContext& context);
void add_bench_kernels(CLI::App& bench, CliContext& context);

// Cycles per hash below which no kernel of this shape can go on a core that starts four 512-bit
// operations a cycle (AMD Zen 5): operations of one compression or permutation / 4 / lanes a register.
// 0 for kernels that such a count does not describe.
[[nodiscard]] double operation_bound(const HashMany& kernel, bool fixed_block) noexcept;

}  // namespace coppice
