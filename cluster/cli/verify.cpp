// coppice verify: checks a signature; exit code 0 valid, 1 not.
#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "node/kernel_choice.hpp"
#include "core/lms/hss.hpp"
#include "node/atomic_file.hpp"
#include "node/key_file.hpp"
#include "proto/result.pb.h"

namespace coppice {
namespace {

struct Options {
  std::string pub;
  std::string in;
  std::string sig;
};

int run(const Options& o, const CliContext& context) {
  constexpr std::size_t kLargestKeyFile = 1 << 16;
  constexpr std::size_t kLargestSignature = 1 << 20;  // 8 levels of H25/W1 are 80 KB
  const HssPublicKey key = decode_public_key(read_file(o.pub, kLargestKeyFile), o.pub);
  const Bytes signature = read_file(o.sig, kLargestSignature);
  const Bytes message = read_file(o.in, ~std::size_t{0});
  const HashMany& kernel = choose_kernel(key.top.pair.lms->hash, context.common.kernel);
  const Verdict verdict = hss_verify(key, message, signature, kernel);
  if (context.common.format == Format::json) {
    v1::VerifyResult m;
    m.set_schema_version(kSchemaVersion);
    m.set_valid(verdict.valid());
    m.set_reason(std::string(verdict.reason()));
    m.set_detail(verdict.detail);
    print(json(m));
  } else {
    print(verdict.valid() ? "valid\n" : "INVALID: " + verdict.detail + "\n");
  }
  return verdict.valid() ? 0 : static_cast<int>(Errc::answer_no);
}

}  // namespace

void add_verify(CLI::App& app, CliContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App& verb = *app.add_subcommand("verify", "Check a signature (exit code 1 when it is not valid)");
  add_value(verb, "--pub", o->pub, "public key: raw HSS, PEM or DER")->required()->option_text("FILE");
  add_value(verb, "--in", o->in, "file that was signed")->required()->option_text("FILE");
  add_value(verb, "--sig", o->sig, "signature")->required()->option_text("FILE");
  add_format(verb, context);
  add_value(verb, "--kernel", context.common.kernel, "force a hash kernel")->option_text("NAME");
  add_logging(verb, context);
  verb.callback([o, &context] { context.run = [o, &context] { return run(*o, context); }; });
}

}  // namespace coppice
