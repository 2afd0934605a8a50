// coppice bench lms: time of a whole leaf for every width and kernel.
#include <fmt/format.h>

#include "cluster/cli/bench.hpp"
#include "cluster/cli/options.hpp"
#include "core/hash/dispatch.hpp"
#include "core/lms/lms.hpp"
#include "core/lms/lms_cost.hpp"

namespace coppice {
namespace {

struct Options {
  std::string hash = "sha256";
  unsigned rounds = 100;
};

// Keeps everything that one case's slice touches.
struct Leaves {
  LmsPair pair;
  LmsTreeSecret secret;
  std::unique_ptr<LmsTrees> trees;
  std::vector<LeafRef> refs;
  Bytes out;
};

int run(const Options& o, const CliContext& context) {
  if (context.launch.rank != 0) return 0;
  std::vector<std::unique_ptr<Leaves>> kept;
  std::vector<BenchCase> cases;
  for (const char* width : {"1", "2", "4", "8"}) {
    const LmsPair pair = parse_hss_params(std::string("20/") + width, o.hash).levels.front();
    const std::size_t first = cases.size();
    const auto all = kernels(pair.lms->hash);
    for (const HashMany* kernel : all) {
      if (!context.common.kernel.empty()) {
        static_cast<void>(select_kernel(pair.lms->hash, context.common.kernel));
        if (kernel->name != context.common.kernel && kernel != all.back()) continue;
      }
      auto leaves = std::make_unique<Leaves>();
      leaves->pair = pair;
      leaves->secret.seed_bytes = pair.lms->m;
      const LmsTreeSecret* const one[] = {&leaves->secret};
      leaves->trees = std::make_unique<LmsTrees>(pair, one, *kernel);
      // One lane group: 0.1 to 4 ms, short enough to escape most disturbances.
      for (std::uint64_t l = 0; l < kernel->lanes; ++l) leaves->refs.push_back({0, l});
      leaves->out.resize(leaves->refs.size() * leaves->trees->node_bytes());
      BenchCase c;
      c.name = fmt::format("leaf {}", pair.ots->name);
      c.kernel = std::string(kernel->name);
      c.items = kernel->lanes;
      c.hashes_per_item = static_cast<double>(leaf_cost(pair));
      c.bound = operation_bound(*kernel, true);
      Leaves* l = leaves.get();
      c.run = [l] { l->trees->leaves(l->refs, l->out); };
      kept.push_back(std::move(leaves));
      cases.push_back(std::move(c));
    }
    // The last kernel of a hash is the portable one.
    for (std::size_t i = first; i < cases.size(); ++i) cases[i].baseline = cases.size() - 1;
  }
  report(cases, measure(cases, o.rounds), "the portable kernel", context);
  return 0;
}

}  // namespace

void add_bench_lms(CLI::App& bench, CliContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App& verb = *bench.add_subcommand("lms", "Time of one leaf by Winternitz width and kernel");
  add_value(verb, "--hash", o->hash, "sha256 (default), sha256-192, shake256, shake256-192")
      ->option_text("H");
  verb.add_option("--rounds", o->rounds, "interleaved rounds (default 100)")
      ->check(CLI::Range(1U, 100000U))->option_text("N");
  add_value(verb, "--kernel", context.common.kernel, "only this kernel, beside portable")
      ->option_text("NAME");
  add_format(verb, context);
  verb.callback([o, &context] { context.run = [o, &context] { return run(*o, context); }; });
}

}  // namespace coppice
