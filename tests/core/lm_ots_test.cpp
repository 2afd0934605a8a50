// LM-OTS on every kernel: digits, derivation, public keys in lanes, signing and verifying chains.
#include "core/lms/lm_ots.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "tests/core/core_support.hpp"
#include "tests/oracle/lms_model.hpp"

namespace coppice {
namespace {

using test::Random;
using test::random_bytes;

oracle::Set set_of(const LmsPair& pair) {
  return {pair.lms->type, pair.ots->type, pair.lms->hash, pair.lms->m, pair.ots->w, pair.lms->h};
}

struct FreeLanes {
  void operator()(std::uint8_t* p) const { std::free(p); }
};
using Lanes = std::unique_ptr<std::uint8_t, FreeLanes>;

Lanes lanes_for(const HashMany& kernel, std::size_t n) {
  const std::size_t bytes = (n * kernel.lanes + 63) / 64 * 64;
  return Lanes(static_cast<std::uint8_t*>(std::aligned_alloc(64, bytes)));
}

TEST(LmOts, DigitsOfEveryWidthMatchTheModel) {
  Random random(1);
  for (const LmOtsParams& ots : all_lm_ots_params()) {
    const oracle::Tree model(set_of(test::pair_for(ots, 5)), {}, {});
    std::vector<Bytes> inputs = {Bytes(ots.n, 0), Bytes(ots.n, 0xff)};  // extreme checksums
    for (int i = 0; i < 20; ++i) inputs.push_back(random_bytes(random, ots.n));
    for (const Bytes& q_hash : inputs) {
      std::vector<std::uint32_t> digits(ots.p);
      lm_ots_digits(ots, q_hash, digits);
      const Bytes checked = model.with_checksum(q_hash);
      for (unsigned i = 0; i < ots.p; ++i)
        ASSERT_EQ(digits[i], model.digit(checked, i)) << ots.name;
    }
  }
}

TEST(LmOts, DerivationAndMessageHashMatchTheModel) {
  Random random(2);
  for (const LmOtsParams& ots : all_lm_ots_params()) {
    for (const std::size_t seed_bytes : {std::size_t{ots.n}, kMaxSeed}) {
      const Bytes seed = random_bytes(random, seed_bytes);
      const Bytes id = random_bytes(random, 16);
      const LmsTreeSecret tree = test::secret_of(seed, id);
      const oracle::Tree model(set_of(test::pair_for(ots, 5)), id, seed);
      for (const std::uint16_t index : {std::uint16_t{0}, std::uint16_t{264}, kDeriveRandomizer,
                                        kDeriveChildSeed, kDeriveChildIdentifier}) {
        Bytes out(ots.n);
        lms_derive(ots.hash, tree, 0x01020304, index, out);
        EXPECT_EQ(out, model.derive(0x01020304, index, ots.n)) << ots.name << ' ' << index;
      }
      const Bytes c = random_bytes(random, ots.n);
      const Bytes message = random_bytes(random, test::pick(random, 300));
      Bytes out(ots.n);
      lm_ots_message_hash(ots, id, 9, c, message, out);
      EXPECT_EQ(out, model.hash({id, oracle::u32(9), oracle::u16(0x8181), c, message}, ots.n));
    }
  }
}

class LmOtsKernel : public testing::TestWithParam<const HashMany*> {
 protected:
  const HashMany& kernel() const { return *GetParam(); }

  // Runs `body` for every LM-OTS row of this kernel's hash.
  template <class Body>
  void for_each_set(Body&& body) {
    for (const LmOtsParams& ots : all_lm_ots_params()) {
      if (ots.hash != kernel().hash) continue;
      SCOPED_TRACE(ots.name);
      body(ots);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(LmOtsKernel, PublicKeysOfAnyMixOfTreesInLanes) {
  Random random(3);
  for_each_set([&](const LmOtsParams& ots) {
    const oracle::Set set = set_of(test::pair_for(ots, 5));
    std::vector<LmsTreeSecret> trees;
    std::vector<oracle::Tree> models;
    for (int i = 0; i < 3; ++i) {
      const Bytes seed = random_bytes(random, ots.n);
      const Bytes id = random_bytes(random, 16);
      trees.push_back(test::secret_of(seed, id));
      models.emplace_back(set, id, seed);
    }
    LmOts engine(ots, kernel());
    const Lanes out = lanes_for(kernel(), ots.n);
    // A full group of one tree, a full mixed group, a single lane.
    for (int round = 0; round < 3; ++round) {
      const std::size_t used = round == 2 ? 1 : kernel().lanes;
      std::vector<const LmsTreeSecret*> tree(used);
      std::vector<std::uint32_t> q(used);
      std::vector<std::size_t> which(used);
      for (std::size_t l = 0; l < used; ++l) {
        which[l] = round == 1 ? test::pick(random, 3) : 0;
        tree[l] = &trees[which[l]];
        q[l] = static_cast<std::uint32_t>(random());
      }
      engine.public_keys(tree, q, out.get());
      for (std::size_t l = 0; l < used; l += 1 + used / 4) {  // the model is slow: some lanes
        Bytes k(ots.n);
        get_lane(kernel(), l, out.get(), k);
        ASSERT_EQ(k, models[which[l]].ots_public(q[l])) << "round " << round << " lane " << l;
      }
    }
  });
}

TEST_P(LmOtsKernel, SignaturesMatchTheModelAndRecoverThePublicKey) {
  Random random(4);
  for_each_set([&](const LmOtsParams& ots) {
    const Bytes seed = random_bytes(random, ots.n);
    const Bytes id = random_bytes(random, 16);
    const LmsTreeSecret tree = test::secret_of(seed, id);
    const oracle::Tree model(set_of(test::pair_for(ots, 5)), id, seed);
    LmOts engine(ots, kernel());
    for (const std::uint32_t q : {0U, 31U, 0x01ffffffU}) {
      const Bytes message = random_bytes(random, test::pick(random, 200));
      Bytes c(ots.n);
      lms_derive(ots.hash, tree, q, kDeriveRandomizer, c);
      Bytes signature(ots.signature_bytes());
      engine.sign(tree, q, c, message, signature);
      ASSERT_EQ(signature, model.sign_ots(q, message));
      Bytes k(ots.n);
      engine.recover_public_key(id, q, message, signature, k);
      ASSERT_EQ(k, model.ots_public(q));
      Bytes other = message;
      other.push_back(0);
      engine.recover_public_key(id, q, other, signature, k);
      ASSERT_NE(k, model.ots_public(q));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, LmOtsKernel, testing::ValuesIn(test::every_kernel()),
                         test::kernel_test_name);

}  // namespace
}  // namespace coppice
