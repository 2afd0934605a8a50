// LMS on every kernel against the model: all sets, mixed trees, subtrees, round trips, refusals.
#include "core/lms/lms.hpp"

#include <gtest/gtest.h>

#include "core/encode/hex.hpp"
#include "core/merkle/auth_path.hpp"
#include "core/merkle/subtree_builder.hpp"
#include "tests/core/core_support.hpp"
#include "tests/oracle/lms_model.hpp"

namespace coppice {
namespace {

using test::Random;
using test::random_bytes;

oracle::Set set_of(const LmsPair& pair) {
  return {pair.lms->type, pair.ots->type, pair.lms->hash, pair.lms->m, pair.ots->w, pair.lms->h};
}

// One random tree as the program and as the model see it.
struct TestTree {
  LmsPair pair;
  LmsTreeSecret secret;
  oracle::Tree model;

  TestTree(Random& random, const LmsPair& p, std::size_t seed_bytes)
      : TestTree(p, random_bytes(random, seed_bytes), random_bytes(random, 16)) {}
  TestTree(const LmsPair& p, const Bytes& seed, const Bytes& id)
      : pair(p), secret(test::secret_of(seed, id)), model(set_of(p), id, seed) {}
};

struct Case {
  const HashMany* kernel;
  const LmOtsParams* ots;
};

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const HashMany* kernel : test::every_kernel()) {
    for (const LmOtsParams& ots : all_lm_ots_params()) {
      if (ots.hash == kernel->hash) cases.push_back({kernel, &ots});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return test::kernel_label(*info.param.kernel) + "_N" + std::to_string(info.param.ots->n) + "_W" +
         std::to_string(info.param.ots->w);
}

class LmsSet : public testing::TestWithParam<Case> {
 protected:
  const HashMany& kernel() const { return *GetParam().kernel; }
  const LmOtsParams& ots() const { return *GetParam().ots; }
};

TEST_P(LmsSet, KeySignAndVerifyLikeTheModel) {
  Random random(100 + ots().type);
  const LmsPair pair = test::pair_for(ots(), 5);
  // n = 24 takes seeds of 24 and of 32 bytes.
  TestTree tree(random, pair, random() % 2 == 0 ? kMaxSeed : ots().n);
  const LmsTreeSecret* const one[] = {&tree.secret};
  LmsTrees scheme(pair, one, kernel());
  SubtreeBuilder builder(scheme, 5);
  TreeCache cache(0, 5, 5, scheme.node_bytes());
  const NodeRef root{0, {5, 0}};
  Bytes value(scheme.node_bytes());
  builder.build(std::span(&root, 1), &cache, value);

  LmsPublicKey key{pair, tree.secret.identifier, {}};
  std::ranges::copy(value, key.root.begin());
  ASSERT_EQ(key.encode(), tree.model.public_key());
  for (std::uint32_t r = 1; r < 64; ++r) {
    ASSERT_TRUE(
        equal(cache.bytes().subspan((r - 1) * value.size(), value.size()), tree.model.node(r)))
        << "node " << r;
  }
  LmsPublicKey parsed;
  std::size_t used = 0;
  ASSERT_TRUE(parse_lms_public_key(key.encode(), parsed, used).valid());
  EXPECT_EQ(parsed, key);
  EXPECT_EQ(used, pair.public_key_bytes());

  for (const std::uint32_t q : {0U, 1U, 18U, 31U}) {
    const Bytes message = random_bytes(random, test::pick(random, 150));
    const Bytes path = auth_path_from_cache(cache, scheme, 0, q);
    Bytes signature(pair.signature_bytes());
    lms_sign(pair, tree.secret, q, path, message, scheme.ots(), signature);
    ASSERT_EQ(signature, tree.model.sign(q, message)) << "q " << q;
    const Verdict good = lms_verify(key, message, signature, kernel());
    EXPECT_TRUE(good.valid()) << good.detail;
    EXPECT_EQ(good.reason(), "ok");
    EXPECT_TRUE(oracle::verify(set_of(pair), key.encode(), message, signature));
    Bytes other = message;
    other.push_back(0);
    EXPECT_EQ(lms_verify(key, other, signature, kernel()).reason(), "root mismatch");
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, LmsSet, testing::ValuesIn(every_case()), case_name);

class LmsKernel : public testing::TestWithParam<const HashMany*> {
 protected:
  const HashMany& kernel() const { return *GetParam(); }
  LmsPair pair(unsigned n, unsigned w, unsigned h) const {
    for (const LmOtsParams& ots : all_lm_ots_params()) {
      if (ots.hash == kernel().hash && ots.n == n && ots.w == w) return test::pair_for(ots, h);
    }
    return {};
  }
};

TEST_P(LmsKernel, TreesOfHeightTenLikeTheModel) {
  Random random(6);
  const unsigned n = kernel().hash == HashId::sha256 ? 32 : 24;
  TestTree tree(random, pair(n, 2, 10), n);
  const LmsTreeSecret* const one[] = {&tree.secret};
  LmsTrees scheme(tree.pair, one, kernel());
  SubtreeBuilder builder(scheme, 10);
  const NodeRef root{0, {10, 0}};
  Bytes value(n);
  builder.build(std::span(&root, 1), nullptr, value);
  EXPECT_EQ(value, tree.model.node(1));
  for (unsigned h = 0; h < 10; h += 3) {  // subtrees anywhere
    const NodeRef part{0, {h, test::pick(random, std::size_t{1} << (10 - h))}};
    builder.build(std::span(&part, 1), nullptr, value);
    const auto r = static_cast<std::uint32_t>((std::uint64_t{1} << (10 - h)) + part.id.index);
    EXPECT_EQ(value, tree.model.node(r)) << "node " << r;
  }
}

TEST_P(LmsKernel, BatchesThatMixTreesEqualSeparateOnes) {
  Random random(7);
  const LmsPair set = pair(24, 4, 5);
  std::vector<TestTree> trees;
  std::vector<const LmsTreeSecret*> secrets;
  for (int i = 0; i < 5; ++i) trees.emplace_back(random, set, std::size_t{24});
  for (const TestTree& t : trees) secrets.push_back(&t.secret);
  LmsTrees scheme(set, secrets, kernel());
  std::vector<LeafRef> refs;
  std::vector<NodeRef> parents;
  for (std::size_t i = 0; i < 5 * 32; ++i) {
    refs.push_back({static_cast<TreeIndex>(i % 5), i * 7 % 32});
    parents.push_back({static_cast<TreeIndex>(i * 3 % 5), {1 + static_cast<unsigned>(i % 5), 0}});
  }
  refs.resize(5 * 32 - 3);  // the last group is not full
  Bytes values(refs.size() * 24);
  scheme.leaves(refs, values);
  for (std::size_t i = 0; i < refs.size(); ++i) {
    const auto r = static_cast<std::uint32_t>(32 + refs[i].leaf);
    ASSERT_TRUE(equal(ByteView(values).subspan(i * 24, 24), trees[refs[i].tree].model.node(r)))
        << i;
  }
  const Bytes children = random_bytes(random, parents.size() * 48);
  Bytes out(parents.size() * 24);
  scheme.nodes(parents, children, out);
  Bytes in_place = children;
  scheme.nodes(parents, in_place, ByteSpan(in_place).first(out.size()));
  EXPECT_TRUE(equal(ByteView(in_place).first(out.size()), out)) << "out may start with children";
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const oracle::Tree& model = trees[parents[i].tree].model;
    const auto r = static_cast<std::uint32_t>(std::uint64_t{1} << (5 - parents[i].id.height));
    const auto& id = trees[parents[i].tree].secret.identifier;
    const Bytes expected = model.hash({Bytes(id.begin(), id.end()), oracle::u32(r),
                                       oracle::u16(0x8383), oracle::part(children, 48 * i, 48)},
                                      24);
    ASSERT_TRUE(equal(ByteView(out).subspan(24 * i, 24), expected)) << i;
  }
}

TEST_P(LmsKernel, RootsOfSeveralKeysInOneCall) {
  Random random(8);
  const LmsPair set = pair(32, 2, 5);
  std::vector<TestTree> trees;
  std::vector<const LmsTreeSecret*> secrets;
  std::vector<NodeRef> roots;
  for (TreeIndex i = 0; i < 7; ++i) {
    trees.emplace_back(random, set, std::size_t{32});
    roots.push_back({i, {5, 0}});
  }
  for (const TestTree& t : trees) secrets.push_back(&t.secret);
  LmsTrees scheme(set, secrets, kernel());
  SubtreeBuilder builder(scheme, 5);
  Bytes values(7 * 32);
  builder.build(roots, nullptr, values);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(equal(ByteView(values).subspan(32 * i, 32), trees[i].model.node(1))) << "key " << i;
  }
}

TEST_P(LmsKernel, FactoryMakesEqualObjects) {
  Random random(9);
  TestTree tree(random, pair(24, 1, 5), 24);
  const LmsTreeSecret* const one[] = {&tree.secret};
  const LmsTreesFactory factory(tree.pair, one, kernel());
  EXPECT_EQ(factory.node_bytes(), 24U);
  for (int i = 0; i < 2; ++i) {
    const auto scheme = factory.make();
    Bytes leaf(24);
    const LeafRef ref{0, 3};
    scheme->leaves(std::span(&ref, 1), leaf);
    EXPECT_EQ(leaf, tree.model.node(35));
  }
}

// A valid signature of a small tree, for the tests that spoil it.
class LmsRejects : public LmsKernel {
 protected:
  void SetUp() override {
    Random random(10);
    tree_.emplace(random, pair(24, 4, 5), std::size_t{24});
    signature_ = tree_->model.sign(11, message_);
    std::size_t used = 0;
    ASSERT_TRUE(parse_lms_public_key(tree_->model.public_key(), key_, used).valid());
    ASSERT_TRUE(verify(signature_).valid());
  }
  Verdict verify(const Bytes& signature) const {
    return lms_verify(key_, message_, signature, kernel());
  }
  Bytes with_u32(std::size_t at, std::uint32_t value) const {
    Bytes out = signature_;
    store_be32(&out[at], value);
    return out;
  }
  std::size_t at_lms_type() const { return 4 + key_.pair.ots->signature_bytes(); }

  std::optional<TestTree> tree_;
  Bytes message_ = {1, 2, 3};
  Bytes signature_;
  LmsPublicKey key_;
};

TEST_P(LmsRejects, EveryCutAndExtension) {
  for (std::size_t length = 0; length < signature_.size(); ++length) {
    Bytes cut = signature_;
    cut.resize(length);
    ASSERT_EQ(verify(cut).rejection, Rejection::too_short) << length;
  }
  for (const std::size_t more : {1U, 4U, 1000U}) {
    Bytes longer = signature_;
    longer.resize(longer.size() + more);
    EXPECT_EQ(verify(longer).rejection, Rejection::trailing_bytes) << more;
  }
}

TEST_P(LmsRejects, LeafNumbersTypesAndContents) {
  for (const std::uint32_t q : {32U, 33U, 11U + 32U, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(verify(with_u32(0, q)).rejection, Rejection::leaf_out_of_range) << q;
  }
  EXPECT_EQ(verify(with_u32(0, 12)).rejection, Rejection::root_mismatch);
  for (const LmOtsParams& ots : all_lm_ots_params()) {
    if (&ots == key_.pair.ots) continue;
    EXPECT_EQ(verify(with_u32(4, ots.type)).rejection, Rejection::ots_type_mismatch) << ots.name;
  }
  EXPECT_EQ(verify(with_u32(4, 0xffffffff)).rejection, Rejection::ots_type_mismatch);
  for (const LmsParams& lms : all_lms_params()) {
    if (&lms == key_.pair.lms) continue;
    EXPECT_EQ(verify(with_u32(at_lms_type(), lms.type)).rejection, Rejection::lms_type_mismatch);
  }
  EXPECT_EQ(verify(with_u32(at_lms_type(), 0)).rejection, Rejection::lms_type_mismatch);
  Bytes spoiled = signature_;
  for (const std::size_t at : {std::size_t{8}, std::size_t{8 + 24}, at_lms_type() - 1,
                               at_lms_type() + 4, signature_.size() - 1}) {  // C, y, y, path, path
    spoiled[at] ^= 1;
    EXPECT_EQ(verify(spoiled).rejection, Rejection::root_mismatch) << at;
    spoiled[at] ^= 1;
  }
}

TEST_P(LmsRejects, TheFirstFaultInTheOrderOfChecksIsNamed) {
  Bytes bad = signature_;
  bad[bad.size() - 1] ^= 1;  // root mismatch, then one fault after the other in front of it
  bad.push_back(0);
  EXPECT_EQ(verify(bad).reason(), "trailing bytes");
  store_be32(bad.data(), 32);
  EXPECT_EQ(verify(bad).reason(), "leaf number out of range");
  store_be32(&bad[at_lms_type()], 77);
  EXPECT_EQ(verify(bad).reason(), "lms type mismatch");
  bad.erase(bad.end() - 2, bad.end());
  EXPECT_EQ(verify(bad).reason(), "too short");
  store_be32(&bad[4], 77);
  EXPECT_EQ(verify(bad).reason(), "ots type mismatch");
  bad.resize(8);
  EXPECT_EQ(verify(bad).reason(), "ots type mismatch");
  bad.resize(7);
  EXPECT_EQ(verify(bad).reason(), "too short") << "the type is not there to be read";
}

TEST_P(LmsRejects, ForeignKeys) {
  LmsPublicKey other = key_;
  other.identifier[5] ^= 1;
  EXPECT_EQ(lms_verify(other, message_, signature_, kernel()).rejection, Rejection::root_mismatch);
  other = key_;
  other.root[0] ^= 1;
  EXPECT_EQ(lms_verify(other, message_, signature_, kernel()).rejection, Rejection::root_mismatch);
}

INSTANTIATE_TEST_SUITE_P(Kernels, LmsKernel, testing::ValuesIn(test::every_kernel()),
                         test::kernel_test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, LmsRejects, testing::ValuesIn(test::every_kernel()),
                         test::kernel_test_name);

TEST(LmsPublicKey, MalformedInputs) {
  Random random(11);
  TestTree tree(random, test::pair_of(10, 8), 24);
  Bytes data = tree.model.public_key();
  LmsPublicKey key;
  std::size_t used = 0;
  for (std::size_t length = 0; length < data.size(); ++length) {
    EXPECT_EQ(parse_lms_public_key(ByteView(data).first(length), key, used).rejection,
              Rejection::too_short)
        << length;
  }
  append(data, Bytes{9, 9});
  ASSERT_TRUE(parse_lms_public_key(data, key, used).valid()) << "only the start is read";
  EXPECT_EQ(used, 48U);
  const struct {
    std::uint32_t lms, ots;
    const char* detail;
  } cases[] = {{0, 8, "unknown LMS type 0"},     {25, 8, "unknown LMS type 25"},
               {10, 0, "unknown LM-OTS type 0"}, {10, 17, "unknown LM-OTS type 17"},
               {10, 4, "different hashes"},      {5, 8, "different hashes"},
               {10, 16, "different hashes"}};
  for (const auto& c : cases) {
    store_be32(data.data(), c.lms);
    store_be32(&data[4], c.ots);
    const Verdict v = parse_lms_public_key(data, key, used);
    EXPECT_EQ(v.rejection, Rejection::unknown_type);
    EXPECT_EQ(v.reason(), "unknown type");
    EXPECT_NE(v.detail.find(c.detail), std::string::npos) << v.detail;
    EXPECT_EQ(parse_lms_public_key(ByteView(data).first(8), key, used).rejection,
              Rejection::unknown_type)
        << "types are judged before the length";
  }
}

}  // namespace
}  // namespace coppice
