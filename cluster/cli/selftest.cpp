// coppice selftest: known answers on every kernel of this machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "core/encode/hex.hpp"
#include "core/hash/dispatch.hpp"
#include "core/lms/hss.hpp"
#include "proto/result.pb.h"

namespace coppice {
namespace {

// Public keys of H5 trees, computed with other libraries (tests/vectors/lms/lms-keygen.json).
struct KnownTree {
  const char* params;
  const char* seed;
  const char* identifier;
  const char* root;
};
#include "cluster/cli/selftest_vectors.inl"

// Grows the tree, compares the root, signs and verifies, and sees a changed message refused.
bool tree_passes(const KnownTree& known, const HashMany& kernel) {
  const HssParams params = parse_hss_params(known.params);
  const LmsPair& pair = params.levels.front();
  LmsTreeSecret secret;
  const Bytes seed = from_hex(known.seed, "seed");
  std::ranges::copy(seed, secret.seed.writable().begin());
  secret.seed_bytes = seed.size();
  std::ranges::copy(from_hex(known.identifier, "identifier"), secret.identifier.begin());
  SerialGrower grower(kernel);
  const TreeCache cache = grower.grow(pair, secret, pair.lms->h);
  if (to_hex(cache.root()) != known.root) return false;

  HssPublicKey key{1, {pair, secret.identifier, {}}};
  std::ranges::copy(cache.root(), key.top.root.begin());
  DerivedChildren children;
  HssSigner signer(params, secret, cache, children, grower, kernel);
  const Bytes signature = signer.sign(params.capacity() - 1, as_bytes("message"));
  return hss_verify(key, as_bytes("message"), signature, kernel).valid() &&
         hss_verify(key, as_bytes("Message"), signature, kernel).rejection == Rejection::root_mismatch;
}

int run(const CliContext& context) {
  v1::SelftestResult m;
  m.set_schema_version(kSchemaVersion);
  std::string out;
  for (const KnownTree& known : kKnownTrees) {
    const LmsPair pair = parse_hss_params(known.params).levels.front();
    for (const HashMany* kernel : kernels(pair.lms->hash)) {
      if (!context.common.kernel.empty() && kernel->name != context.common.kernel) continue;
      const bool passed = tree_passes(known, *kernel);
      v1::SelftestCase& row = *m.add_cases();
      row.set_name(known.params);
      row.set_kernel(std::string(kernel->name));
      row.set_passed(passed);
      if (passed) m.set_passed(m.passed() + 1);
      if (!passed) m.set_failed(m.failed() + 1);
      out += fmt::format("{} {:<10} {}\n", passed ? "ok    " : "FAILED", kernel->name, known.params);
    }
  }
  if (m.cases_size() == 0) {
    fail(Errc::usage, "--kernel '" + context.common.kernel + "': no such kernel on this machine");
  }
  out += fmt::format("{} passed, {} failed\n", m.passed(), m.failed());
  print(context.common.format == Format::json ? json(m) : out);
  return m.failed() == 0 ? 0 : static_cast<int>(Errc::answer_no);
}

}  // namespace

void add_selftest(CLI::App& app, CliContext& context) {
  CLI::App& verb = *app.add_subcommand("selftest", "Run known answers on every kernel of this machine");
  add_format(verb, context);
  add_value(verb, "--kernel", context.common.kernel, "only this kernel")->option_text("NAME");
  verb.callback([&context] { context.run = [&context] { return run(context); }; });
}

}  // namespace coppice
