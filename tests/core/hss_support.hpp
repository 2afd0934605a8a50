// A whole HSS key of the program and its model, for the tests of signing and of refusing.
#pragma once

#include <memory>
#include <string>

#include "core/lms/hss.hpp"
#include "tests/core/core_support.hpp"
#include "tests/oracle/lms_model.hpp"

namespace coppice::test {

inline oracle::Set oracle_set(const LmsPair& pair) {
  return {pair.lms->type, pair.ots->type, pair.lms->hash, pair.lms->m, pair.ots->w, pair.lms->h};
}

inline std::vector<oracle::Set> oracle_sets(const HssParams& params) {
  std::vector<oracle::Set> sets;
  for (const LmsPair& pair : params.levels) sets.push_back(oracle_set(pair));
  return sets;
}

// Children derived, trees grown serially on one kernel.
class HssKey {
 public:
  HssKey(const HssParams& params, Random& random, const HashMany& kernel)
      : params_(params),
        kernel_(kernel),
        seed_(random_bytes(random, params.levels.front().lms->m)),
        identifier_(random_bytes(random, 16)),
        secret_(secret_of(seed_, identifier_)),
        grower_(kernel),
        cache_(grower_.grow(params.levels.front(), secret_,
                            default_cache_depth(params.levels.front().lms->h))),
        signer_(params, secret_, cache_, children_, grower_, kernel) {
    key_.levels = static_cast<std::uint32_t>(params.levels.size());
    key_.top.pair = params.levels.front();
    key_.top.identifier = secret_.identifier;
    std::ranges::copy(cache_.root(), key_.top.root.begin());
  }
  [[nodiscard]] Bytes sign(std::uint64_t index, ByteView message) {
    return signer_.sign(index, message);
  }
  [[nodiscard]] Verdict verify(ByteView message, ByteView signature) const {
    return hss_verify(key_, message, signature, kernel_);
  }
  [[nodiscard]] oracle::Hypertree model() const {
    return {oracle_sets(params_), identifier_, seed_};
  }
  [[nodiscard]] const HssPublicKey& key() const { return key_; }
  [[nodiscard]] const HssParams& params() const { return params_; }

 private:
  HssParams params_;
  const HashMany& kernel_;
  Bytes seed_;
  Bytes identifier_;
  LmsTreeSecret secret_;
  DerivedChildren children_;
  SerialGrower grower_;
  TreeCache cache_;
  HssSigner signer_;
  HssPublicKey key_;
};

inline std::string short_hash(const HashMany& kernel, unsigned n) {
  return std::string(hash_name(kernel.hash)) + (n == 24 ? "-192" : "");
}

}  // namespace coppice::test
