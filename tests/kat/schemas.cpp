// The schemas that the known-answer tool knows: how to recognise a file by its content and run it.
#include "tests/kat/schemas.hpp"

#include <algorithm>
#include <array>

namespace coppice::kat {
namespace {

constexpr std::array<Schema, 8> kSchemas = {{
    {"acvp-lms-keygen", is_acvp, run_acvp},
    {"lms-h25-w1-top-nodes", is_top_nodes, run_top_nodes},
    {"hash-sigs-files",
     [](const Json& root) {
       return first_case_has(root, {"parameters", "prv", "pub"});
     },
     run_hash_sigs},
    {"hss-spki",
     [](const Json& root) {
       return first_case_has(root, {"spki_der", "form"});
     },
     run_spki},
    {"hss-siggen-deterministic",
     [](const Json& root) {
       return first_case_has(root, {"levels", "signatures"});
     },
     run_siggen},
    {"lms-trace",
     [](const Json& root) {
       return first_case_has(root, {"x_q0_i0", "nodes"});
     },
     run_trace},
    {"lms-hss-sigver",
     [](const Json& root) {
       return first_case_has(root, {"kind", "signature", "valid"});
     },
     run_sigver},
    {"lms-keygen",
     [](const Json& root) {
       return first_case_has(root, {"lms_type", "ots_type", "seed", "I"});
     },
     run_lms_keygen},
}};

}  // namespace

std::span<const Schema> schemas() { return kSchemas; }

bool first_case_has(const Json& root, std::initializer_list<const char*> names) {
  if (!root.is_object() || !root.contains("cases")) return false;
  const Json& cases = root.at("cases");
  if (!cases.is_array() || cases.empty() || !cases.front().is_object()) return false;
  return std::ranges::all_of(names, [&](const char* name) { return cases.front().contains(name); });
}

void for_each_case(const Run& run, const std::function<void(const Case&)>& body) {
  const Json& cases = run.root().at("cases");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case c(cases[i], run.path(), case_id(cases[i], i));
    if (!cases[i].is_object()) c.malformed("not an object");
    body(c);
  }
}

}  // namespace coppice::kat
