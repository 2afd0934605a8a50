// Helpers of the core tests: kernel lists for parameterised tests, random bytes, expected errors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/hash/dispatch.hpp"
#include "core/lms/lm_ots.hpp"

namespace coppice::test {

using Random = std::mt19937_64;

inline Bytes random_bytes(Random& random, std::size_t n) {
  Bytes out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random());
  return out;
}

// Uniform enough for choosing positions.
inline std::size_t pick(Random& random, std::size_t below) { return random() % below; }

inline std::vector<const HashMany*> kernels_of(HashId hash) {
  const auto list = kernels(hash);
  return {list.begin(), list.end()};
}

inline std::vector<const HashMany*> every_kernel() {
  std::vector<const HashMany*> all = kernels_of(HashId::sha256);
  for (const HashMany* k : kernels_of(HashId::shake256)) all.push_back(k);
  return all;
}

inline std::string kernel_label(const HashMany& kernel) {
  std::string name = std::string(hash_name(kernel.hash)) + "_" + std::string(kernel.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

inline std::string kernel_test_name(const testing::TestParamInfo<const HashMany*>& info) {
  return kernel_label(*info.param);
}

inline LmsPair pair_of(std::uint32_t lms_type, std::uint32_t ots_type) {
  LmsPair pair;
  std::string problem;
  EXPECT_TRUE(make_pair(lms_type, ots_type, pair, problem)) << problem;
  return pair;
}

// The tree of height `h` that goes with an LM-OTS row.
inline LmsPair pair_for(const LmOtsParams& ots, unsigned h) {
  for (const LmsParams& lms : all_lms_params()) {
    if (lms.hash == ots.hash && lms.m == ots.n && lms.h == h) return {&lms, &ots};
  }
  ADD_FAILURE() << "no tree of height " << h << " for " << ots.name;
  return {};
}

inline LmsTreeSecret secret_of(ByteView seed, ByteView identifier) {
  LmsTreeSecret tree;
  std::ranges::copy(seed, tree.seed.writable().begin());
  tree.seed_bytes = seed.size();
  std::ranges::copy(identifier, tree.identifier.begin());
  return tree;
}

// Runs `action` and checks that it throws Error with this code and this text in its message.
template <class Action>
void expect_error(Errc code, const std::string& part, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with '" << part << "'";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace coppice::test
