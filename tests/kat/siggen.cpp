// Deterministic HSS signatures from (SEED, I, index): public key, bytes, verification.
#include <algorithm>

#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

HssParams read_levels(const Case& c) {
  HssParams params;
  for (const Json& level : c.list("levels")) {
    if (!level.is_array() || level.size() != 2 || !level[0].is_number_unsigned() ||
        !level[1].is_number_unsigned()) {
      c.malformed("a level is not [lmsType, otsType]");
    }
    params.levels.push_back(c.pair(level[0].get<std::uint64_t>(), level[1].get<std::uint64_t>()));
  }
  if (params.levels.empty() || params.levels.size() > kMaxHssLevels) {
    c.malformed("level count is outside 1..8");
  }
  return params;
}

struct Wanted {
  std::uint64_t index;
  Bytes message;
  std::uint64_t length;
  Bytes digest;
  Bytes signature;  // empty when the file has only the digest
};

std::vector<Wanted> read_signatures(const Case& c, const HssParams& params) {
  std::vector<Wanted> all;
  for (const Json& s : c.list("signatures")) {
    const Case one(s, c.file(), c.id() + " signature " + std::to_string(all.size()));
    all.push_back({one.number("index"), one.hex("message"), one.number("signature_length"),
                   one.hex("signature_sha256"),
                   one.has("signature") ? one.hex("signature") : Bytes{}});
    if (all.back().index >= params.capacity()) one.malformed("index is past the last signature");
  }
  if (all.empty()) c.malformed("no signatures");
  return all;
}

}  // namespace

void run_siggen(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const HssParams params = read_levels(c);
    const LmsPair& top_pair = params.levels.front();
    const LmsTreeSecret top = c.secret("seed", "I");
    const Bytes public_key = c.hex("public_key");
    const std::vector<Wanted> wanted = read_signatures(c, params);
    run.run(c, {top_pair.lms->hash, tallest(params)}, [&](const HashMany& kernel, Check& check) {
      EngineGrower grower(run.engine());
      DerivedChildren children;
      const TreeCache cache = grower.grow(top_pair, top, default_cache_depth(top_pair.lms->h));
      HssPublicKey key{static_cast<std::uint32_t>(params.levels.size()),
                       {top_pair, top.identifier, {}}};
      std::ranges::copy(cache.root(), key.top.root.begin());
      check.equal("public key", key.encode(), public_key);
      HssSigner signer(params, top, cache, children, grower, kernel);
      for (const Wanted& w : wanted) {
        const std::string what = "signature of index " + std::to_string(w.index);
        const Bytes signature = signer.sign(w.index, w.message);
        check.equal("length of the " + what, signature.size(), w.length);
        check.equal("SHA-256 of the " + what, sha256_of(signature), w.digest);
        if (!w.signature.empty()) check.equal(what, signature, w.signature);
        const Verdict v = hss_verify(key, w.message, signature, kernel);
        check.that(v.valid(), what + " does not verify: " + v.detail);
        Bytes other = w.message;
        other.push_back(0);
        check.that(!hss_verify(key, other, signature, kernel).valid(),
                   what + " verifies for another message");
      }
    });
  });
}

}  // namespace coppice::kat
