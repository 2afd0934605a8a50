// coppice list-params: the parameter sets with their IANA names and numbers.
#include <fmt/format.h>

#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "core/lms/lms_params.hpp"
#include "proto/result.pb.h"

namespace coppice {
namespace {

std::string as_json() {
  v1::ListParamsResult m;
  m.set_schema_version(kSchemaVersion);
  for (const LmsParams& lms : all_lms_params()) {
    v1::ParamRow& row = *m.add_lms();
    row.set_name(std::string(lms.name));
    row.set_type(lms.type);
    row.set_hash(std::string(hash_name(lms.hash)));
    row.set_n(lms.m);
    row.set_h(lms.h);
  }
  for (const LmOtsParams& ots : all_lm_ots_params()) {
    v1::ParamRow& row = *m.add_lmots();
    row.set_name(std::string(ots.name));
    row.set_type(ots.type);
    row.set_hash(std::string(hash_name(ots.hash)));
    row.set_n(ots.n);
    row.set_w(ots.w);
    row.set_p(ots.p);
    row.set_signature_bytes(ots.signature_bytes());
  }
  return json(m);
}

std::string as_text() {
  std::string out = "# LMS trees (RFC 8554, SP 800-208, RFC 9858); any of them with an LM-OTS type of the same hash\n"
                    "# name                  code   n   h  signatures\n";
  for (const LmsParams& lms : all_lms_params()) {
    out += fmt::format("{:<22} {:>5} {:>3} {:>3}  {}\n", lms.name, lms.type, lms.m, lms.h,
                       std::uint64_t{1} << lms.h);
  }
  out += "\n# LM-OTS keys\n# name                  code   n   w    p  signature bytes\n";
  for (const LmOtsParams& ots : all_lm_ots_params()) {
    out += fmt::format("{:<22} {:>5} {:>3} {:>3} {:>4}  {}\n", ots.name, ots.type, ots.n, ots.w,
                       ots.p, ots.signature_bytes());
  }
  out += "\n# short form with --hash sha256 | sha256-192 | shake256 | shake256-192\n"
         "# 20/8 is height 20, Winternitz width 8; 15/4,10/8 is an HSS key of two levels\n";
  return out;
}

}  // namespace

void add_list_params(CLI::App& app, CliContext& context) {
  CLI::App& verb = *app.add_subcommand("list-params", "Print the parameter sets");
  add_format(verb, context);
  verb.callback([&context] {
    context.run = [&context] {
      if (context.launch.rank == 0) {
        print(context.common.format == Format::json ? as_json() : as_text());
      }
      return 0;
    };
  });
}

}  // namespace coppice
