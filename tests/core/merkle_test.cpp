// The tree engine with a toy scheme: subtrees of any height and place, several at once, sinks.
#include <gtest/gtest.h>

#include <map>

#include "core/merkle/auth_path.hpp"
#include "core/merkle/subtree_builder.hpp"
#include "tests/core/core_support.hpp"
#include "tests/core/toy_scheme.hpp"

namespace coppice {
namespace {

using test::ToyScheme;

TEST(NodeId, Relations) {
  const NodeId node{3, 5};
  EXPECT_EQ(node.parent(), (NodeId{4, 2}));
  EXPECT_EQ(node.sibling(), (NodeId{3, 4}));
  EXPECT_EQ(node.sibling().sibling(), node);
  EXPECT_EQ(node.first_leaf(), 40U);
}

// Keeps what it takes and counts offers of the same node.
class RecordingSink final : public NodeSink {
 public:
  explicit RecordingSink(bool (*filter)(const NodeRef&)) : filter_(filter) {}
  [[nodiscard]] bool wants_height(unsigned height) const noexcept override { return height != 2; }
  [[nodiscard]] bool wants(const NodeRef& node) const noexcept override { return filter_(node); }
  void take(const NodeRef& node, ByteView value) noexcept override {
    ++times[node];
    values[node] = Bytes(value.begin(), value.end());
  }
  std::map<NodeRef, int> times;
  std::map<NodeRef, Bytes> values;

 private:
  bool (*filter_)(const NodeRef&);
};

struct Shape {
  std::size_t node_bytes;
  std::size_t batch;
};

class BuilderTest : public testing::TestWithParam<Shape> {};

TEST_P(BuilderTest, AnySubtreeEqualsTheModel) {
  const auto [node_bytes, batch] = GetParam();
  ToyScheme scheme(node_bytes, batch);
  const unsigned most = node_bytes > 1000 ? 6 : 10;
  SubtreeBuilder builder(scheme, most);
  for (unsigned height = 0; height <= most; ++height) {
    for (const std::uint64_t index :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{0xfffffffffff}}) {
      const NodeRef root{3, {height, index}};
      Bytes value(node_bytes);
      builder.build(std::span(&root, 1), nullptr, value);
      ASSERT_EQ(value, scheme.model(root)) << "height " << height << " index " << index;
    }
  }
  EXPECT_LE(scheme.largest_batch_, batch);
}

TEST_P(BuilderTest, SeveralRootsOfSeveralTreesAtOnce) {
  const auto [node_bytes, batch] = GetParam();
  ToyScheme scheme(node_bytes, batch);
  SubtreeBuilder builder(scheme, 5);
  for (unsigned height = 0; height <= 5; ++height) {
    for (const std::size_t count : {1U, 2U, 3U, 7U, 40U}) {
      if (node_bytes > 1000 && count > 7) continue;
      std::vector<NodeRef> roots;
      for (std::size_t i = 0; i < count; ++i) {
        roots.push_back({static_cast<TreeIndex>(i % 5), {height, (i * i + 1) % 13}});
      }
      Bytes values(count * node_bytes);
      scheme.leaf_count_ = 0;
      builder.build(roots, nullptr, values);
      EXPECT_EQ(scheme.leaf_count_, count << height) << "no leaf is computed twice";
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(
            equal(ByteView(values).subspan(i * node_bytes, node_bytes), scheme.model(roots[i])))
            << "height " << height << " root " << i << " of " << count;
      }
    }
  }
}

TEST_P(BuilderTest, SinkSeesEveryWantedNodeOnce) {
  const auto [node_bytes, batch] = GetParam();
  ToyScheme scheme(node_bytes, batch);
  const unsigned height = node_bytes > 1000 ? 5 : 9;
  SubtreeBuilder builder(scheme, height);
  RecordingSink sink([](const NodeRef& node) { return node.id.index % 3 != 1; });
  const NodeRef roots[] = {{1, {height, 4}}, {2, {height, 0}}};
  Bytes values(2 * node_bytes);
  builder.build(roots, &sink, values);
  std::size_t expected = 0;
  for (const NodeRef& root : roots) {
    for (unsigned h = 0; h <= height; ++h) {
      const std::uint64_t first = root.id.index << (height - h);
      for (std::uint64_t i = first; i < first + (1ULL << (height - h)); ++i) {
        const NodeRef node{root.tree, {h, i}};
        const bool wanted = sink.wants_height(h) && sink.wants(node);
        expected += wanted ? 1 : 0;
        ASSERT_EQ(sink.times.contains(node) ? sink.times[node] : 0, wanted ? 1 : 0)
            << "height " << h << " index " << i;
        if (wanted && (h >= height - 1 || i % 16 == 0)) {
          ASSERT_EQ(sink.values[node], scheme.model(node)) << "height " << h << " index " << i;
        }
      }
    }
  }
  EXPECT_EQ(sink.times.size(), expected) << "nothing outside the subtrees";
}

TEST_P(BuilderTest, MemoryGrowsWithTheHeightOnly) {
  const auto [node_bytes, batch] = GetParam();
  const unsigned most = node_bytes > 1000 ? 8 : 13;
  for (unsigned height = 0; height <= most; ++height) {
    ToyScheme scheme(node_bytes, batch);
    SubtreeBuilder builder(scheme, height);
    const NodeRef root{0, {height, 0}};
    Bytes value(node_bytes);
    builder.build(std::span(&root, 1), nullptr, value);
    EXPECT_LE(scheme.memory(), (batch + 2 * (height + 1)) * node_bytes) << "height " << height;
    EXPECT_EQ(scheme.leaf_count_, 1ULL << height);
    EXPECT_EQ(scheme.node_count_, (1ULL << height) - 1) << "every node is hashed once";
  }
}

TEST_P(BuilderTest, NothingToBuild) {
  const auto [node_bytes, batch] = GetParam();
  ToyScheme scheme(node_bytes, batch);
  SubtreeBuilder builder(scheme, 3);
  builder.build({}, nullptr, {});
  EXPECT_EQ(scheme.leaf_count_, 0U);
}

std::string shape_name(const testing::TestParamInfo<Shape>& shape) {
  return "Bytes" + std::to_string(shape.param.node_bytes) + "Batch" +
         std::to_string(shape.param.batch);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BuilderTest,
                         testing::Values(Shape{1, 1}, Shape{24, 1}, Shape{32, 2}, Shape{32, 8},
                                         Shape{32, 256}, Shape{3072, 1}, Shape{3457, 8},
                                         Shape{4608, 256}),
                         shape_name);

TEST(Builder, BatchThatIsNoPowerOfTwoIsRoundedDown) {
  for (const std::size_t batch : {0U, 3U, 13U}) {
    ToyScheme scheme(32, batch);
    SubtreeBuilder builder(scheme, 6);
    const NodeRef root{0, {6, 1}};
    Bytes value(32);
    builder.build(std::span(&root, 1), nullptr, value);
    EXPECT_EQ(value, scheme.model(root));
  }
}

TEST(SinkList, HandsEachNodeToThoseThatWantIt) {
  ToyScheme scheme(32, 4);
  SubtreeBuilder builder(scheme, 4);
  RecordingSink even([](const NodeRef& node) { return node.id.index % 2 == 0; });
  RecordingSink roots([](const NodeRef& node) { return node.id.height == 4; });
  NodeSink* const both[] = {&even, &roots};
  SinkList list(both);
  EXPECT_TRUE(list.wants_height(0));
  EXPECT_FALSE(list.wants_height(2));
  EXPECT_FALSE(list.wants({0, {1, 1}}));
  const NodeRef root{0, {4, 0}};
  Bytes value(32);
  builder.build(std::span(&root, 1), &list, value);
  EXPECT_EQ(even.values.size(), 8U + 4U + 1U + 1U);
  EXPECT_EQ(roots.values.size(), 1U);
  EXPECT_EQ(roots.values[root], value);
  for (const auto& [node, times] : even.times) EXPECT_EQ(times, 1) << node.id.index;
}

}  // namespace
}  // namespace coppice
