// HSS signing on every kernel against the model: levels 1 to 8, edges of trees, changes of trees.
#include "core/lms/hss.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/core/hss_support.hpp"

namespace coppice {
namespace {

using test::HssKey;
using test::Random;
using test::random_bytes;

class HssKernel : public testing::TestWithParam<const HashMany*> {
 protected:
  const HashMany& kernel() const { return *GetParam(); }

  // Signs with each index in turn and compares with the model, which keeps its trees.
  void check(const HssParams& params, std::uint64_t seed,
             const std::vector<std::uint64_t>& indices) {
    Random random(seed);
    HssKey key(params, random, kernel());
    oracle::Hypertree model = key.model();
    ASSERT_EQ(key.key().encode(), model.public_key());
    for (const std::uint64_t index : indices) {
      SCOPED_TRACE(params.name() + " index " + std::to_string(index));
      const Bytes message = random_bytes(random, test::pick(random, 100));
      const Bytes signature = key.sign(index, message);
      ASSERT_EQ(signature.size(), params.signature_bytes());
      ASSERT_EQ(signature, model.sign(index, message));
      const Verdict good = key.verify(message, signature);
      ASSERT_TRUE(good.valid()) << good.detail;
      Bytes other = message;
      other.push_back(7);
      const Verdict bad = key.verify(other, signature);
      ASSERT_EQ(bad.rejection, Rejection::root_mismatch);
      ASSERT_EQ(bad.level, params.levels.size() - 1);
    }
  }
};

TEST_P(HssKernel, OneToEightLevels) {
  std::string text;
  for (unsigned levels = 1; levels <= 8; ++levels) {
    if (levels > 1) text += ',';
    text += levels % 2 == 0 ? "5/2" : "5/4";
    const HssParams params = parse_hss_params(text, test::short_hash(kernel(), 24));
    check(params, levels, {0, params.capacity() - 1});
    if (HasFatalFailure()) return;
  }
}

TEST_P(HssKernel, FirstAndLastLeavesOfTrees) {
  const HssParams params = parse_hss_params("5/2,5/2", test::short_hash(kernel(), 32));
  check(params, 20, {0, 1, 31, 32, 33, 63, 64, 1023, 992, 991, 0});
}

TEST_P(HssKernel, ThreeLevelsAcrossBothKindsOfEdges) {
  const HssParams params = parse_hss_params("5/4,5/4,5/4", test::short_hash(kernel(), 24));
  check(params, 21, {31, 32, 1023, 1024, 1055, 1056, 32767, 31 * 1024, 5});
}

TEST_P(HssKernel, TallTopTreeSignsThroughItsCache) {
  const HssParams params = parse_hss_params("10/1,5/4", test::short_hash(kernel(), 24));
  ASSERT_EQ(default_cache_depth(10), 2U);
  check(params, 22, {0, 255 * 32 + 31, 256 * 32, 1023 * 32 + 31});
}

TEST_P(HssKernel, WiderSeedsOfShortSets) {
  Random random(23);
  const HssParams params = parse_hss_params("5/2,5/2", test::short_hash(kernel(), 24));
  const Bytes seed = random_bytes(random, 32);  // n = 24 with 32 bytes, as older ACVP samples have
  const Bytes id = random_bytes(random, 16);
  const LmsTreeSecret secret = test::secret_of(seed, id);
  SerialGrower grower(kernel());
  DerivedChildren children;
  const TreeCache cache = grower.grow(params.levels[0], secret, 0);
  HssSigner signer(params, secret, cache, children, grower, kernel());
  oracle::Hypertree model(test::oracle_sets(params), id, seed);
  EXPECT_EQ(signer.sign(40, as_bytes("wide")), model.sign(40, {'w', 'i', 'd', 'e'}));
}

TEST_P(HssKernel, RepeatedIndexAndMessageRepeatTheBytes) {
  Random random(24);
  const HssParams params = parse_hss_params("5/4,5/4", test::short_hash(kernel(), 32));
  HssKey key(params, random, kernel());
  const Bytes first = key.sign(70, as_bytes("a"));
  (void)key.sign(200, as_bytes("b"));  // another child tree in between
  EXPECT_EQ(key.sign(70, as_bytes("a")), first);
}

TEST_P(HssKernel, CacheOfAnotherKeyIsRefused) {
  Random random(25);
  const HssParams params = parse_hss_params("5/4", test::short_hash(kernel(), 32));
  const LmsTreeSecret a = test::secret_of(random_bytes(random, 32), random_bytes(random, 16));
  const LmsTreeSecret b = test::secret_of(random_bytes(random, 32), random_bytes(random, 16));
  SerialGrower grower(kernel());
  DerivedChildren children;
  const TreeCache cache = grower.grow(params.levels[0], a, 2);
  HssSigner signer(params, b, cache, children, grower, kernel());
  test::expect_error(Errc::bad_data, "does not belong to this key",
                     [&] { (void)signer.sign(0, as_bytes("x")); });
}

TEST_P(HssKernel, IndicesPastTheCapacityAreRefused) {
  Random random(26);
  const HssParams params = parse_hss_params("5/4,5/4", test::short_hash(kernel(), 24));
  HssKey key(params, random, kernel());
  for (const std::uint64_t index :
       {std::uint64_t{1024}, std::numeric_limits<std::uint64_t>::max()}) {
    test::expect_error(Errc::internal, "past the last signature",
                       [&] { (void)key.sign(index, as_bytes("x")); });
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HssKernel, testing::ValuesIn(test::every_kernel()),
                         test::kernel_test_name);

// A source of independent children: counts what it is asked for.
class CountingChildren final : public ChildSource {
 public:
  void child(unsigned level, std::uint64_t tree, const LmsPair& pair, const LmsTreeSecret&,
             std::uint32_t parent_q, LmsTreeSecret& out) override {
    asked.push_back({level, tree, parent_q});
    Bytes seed(pair.lms->m, static_cast<std::uint8_t>(level + 16 * tree));
    out = test::secret_of(seed, Bytes(16, static_cast<std::uint8_t>(tree)));
  }
  struct Asked {
    unsigned level;
    std::uint64_t tree;
    std::uint32_t parent_q;
    bool operator==(const Asked&) const = default;
  };
  std::vector<Asked> asked;
};

TEST(HssSigner, AsksForEachTreeOnceWhileItIsActive) {
  const HashMany& kernel = *kernels(HashId::sha256).front();
  const HssParams params = parse_hss_params("5/4,5/4,5/4");
  const LmsTreeSecret top = test::secret_of(Bytes(32, 1), Bytes(16, 2));
  SerialGrower grower(kernel);
  CountingChildren children;
  const TreeCache cache = grower.grow(params.levels[0], top, 0);
  HssSigner signer(params, top, cache, children, grower, kernel);
  HssPublicKey key{3, {params.levels[0], top.identifier, {}}};
  std::ranges::copy(cache.root(), key.top.root.begin());
  for (const std::uint64_t index : {0U, 1U, 31U, 32U, 33U, 1024U}) {
    const Bytes signature = signer.sign(index, as_bytes("m"));
    EXPECT_TRUE(hss_verify(key, as_bytes("m"), signature, kernel).valid()) << index;
  }
  const std::vector<CountingChildren::Asked> expected = {
      {1, 0, 0}, {2, 0, 0}, {2, 1, 1}, {1, 1, 1}, {2, 32, 0}};
  EXPECT_EQ(children.asked, expected);
}

TEST(HssSigner, AFailedChildLeavesTheSignerUsable) {
  struct FailingChildren final : ChildSource {
    void child(unsigned level, std::uint64_t tree, const LmsPair& pair, const LmsTreeSecret& parent,
               std::uint32_t parent_q, LmsTreeSecret& out) override {
      if (fails) fail(Errc::unavailable, "no child now");
      derived.child(level, tree, pair, parent, parent_q, out);
    }
    DerivedChildren derived;
    bool fails = false;
  } children;
  const HashMany& kernel = *kernels(HashId::sha256).front();
  const HssParams params = parse_hss_params("5/4,5/4");
  const LmsTreeSecret top = test::secret_of(Bytes(32, 1), Bytes(16, 2));
  SerialGrower grower(kernel);
  const TreeCache cache = grower.grow(params.levels[0], top, 0);
  HssSigner signer(params, top, cache, children, grower, kernel);
  const Bytes before = signer.sign(5, as_bytes("m"));
  children.fails = true;
  test::expect_error(Errc::unavailable, "no child now",
                     [&] { (void)signer.sign(32, as_bytes("m")); });
  children.fails = false;
  EXPECT_EQ(signer.sign(5, as_bytes("m")), before) << "not the half-made tree of index 32";
}

}  // namespace
}  // namespace coppice
