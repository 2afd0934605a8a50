// The schemas that the known-answer tool knows: how to recognise a file by its content and run it.
#pragma once

#include <span>

#include "tests/kat/run.hpp"

namespace coppice::kat {

struct Schema {
  const char* name;
  bool (*detect)(const Json& root);
  void (*run)(Run& run);
};

// In the order in which they are tried; a new scheme adds its rows here.
[[nodiscard]] std::span<const Schema> schemas();

// True when the first element of root["cases"] has all these fields.
[[nodiscard]] bool first_case_has(const Json& root, std::initializer_list<const char*> names);
// Calls body for each case of root["cases"].
void for_each_case(const Run& run, const std::function<void(const Case&)>& body);

void run_lms_keygen(Run& run);
[[nodiscard]] bool is_acvp(const Json& root);
void run_acvp(Run& run);
void run_sigver(Run& run);
void run_siggen(Run& run);
void run_trace(Run& run);
[[nodiscard]] bool is_top_nodes(const Json& root);
void run_top_nodes(Run& run);
void run_hash_sigs(Run& run);
void run_spki(Run& run);

}  // namespace coppice::kat
