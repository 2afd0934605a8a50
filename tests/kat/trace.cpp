// Intermediate values of small trees, and the upper nodes of a tree of height 25.
#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <vector>

#include "core/merkle/subtree_builder.hpp"
#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

// Node r of RFC 8554 (root 1) in a tree of height h.
NodeId node_of(std::uint64_t r, unsigned h) {
  const auto depth = static_cast<unsigned>(std::bit_width(r) - 1);
  return {h - depth, r - (std::uint64_t{1} << depth)};
}

std::map<std::uint64_t, Bytes> read_nodes(const Case& c, const LmsPair& pair) {
  const Json& object = c.object("nodes");
  const Case fields(object, c.file(), c.id() + " nodes");
  std::map<std::uint64_t, Bytes> nodes;
  for (const auto& [name, value] : object.items()) {
    std::uint64_t r = 0;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data(), end, r).ptr != end || r == 0 ||
        r >= std::uint64_t{2} << pair.lms->h) {
      c.malformed("'" + name + "' is not a node of a tree of height " +
                  std::to_string(pair.lms->h));
    }
    nodes[r] = fields.hex(name.c_str());
    if (nodes[r].size() != pair.lms->m) c.malformed("node " + name + " has a wrong length");
  }
  if (nodes.empty()) c.malformed("no nodes");
  return nodes;
}

// Keeps the nodes that a case names.
class NamedNodes final : public NodeSink {
 public:
  explicit NamedNodes(unsigned height, const std::map<std::uint64_t, Bytes>& wanted) {
    for (const auto& [r, value] : wanted) values[node_of(r, height)];
  }
  [[nodiscard]] bool wants_height(unsigned) const noexcept override { return true; }
  [[nodiscard]] bool wants(const NodeRef& node) const noexcept override {
    return values.contains(node.id);
  }
  void take(const NodeRef& node, ByteView value) noexcept override {
    values[node.id] = Bytes(value.begin(), value.end());
  }
  std::map<NodeId, Bytes> values;
};

// Steps [0, last) of chain 0 of leaf 0, by the kernel, from `start`.
Bytes chain_start(const HashMany& kernel, const LmsPair& pair, const LmsTreeSecret& tree,
                  const Bytes& start, unsigned last) {
  const std::size_t n = pair.ots->n;
  constexpr std::size_t kAlign = 64;
  std::vector<std::uint8_t> room(n * kernel.lanes + kAlign);
  void* lanes = room.data();
  std::size_t space = room.size();
  lanes = std::align(kAlign, n * kernel.lanes, lanes, space);
  for (std::size_t l = 0; l < kernel.lanes; ++l) put_lane(kernel, l, start, lanes);
  MessageHead head;  // I || u32 q = 0 || u16 i = 0 || u8 j
  std::ranges::copy(tree.identifier, head.bytes.begin());
  head.length = 23;
  ChainSteps steps;
  steps.counter = 22;
  steps.last = last;
  kernel.chain(head, steps, n, lanes);
  Bytes value(n);
  get_lane(kernel, kernel.lanes - 1, lanes, value);
  return value;
}

Bytes ots_public(const HashMany& kernel, LmOts& ots, const LmsTreeSecret& tree) {
  constexpr std::size_t kAlign = 64;
  const std::size_t n = ots.params().n;
  std::vector<std::uint8_t> room(n * kernel.lanes + kAlign);
  void* lanes = room.data();
  std::size_t space = room.size();
  lanes = std::align(kAlign, n * kernel.lanes, lanes, space);
  const LmsTreeSecret* const trees[] = {&tree};
  const std::uint32_t q[] = {0};
  ots.public_keys(trees, q, lanes);
  Bytes value(n);
  get_lane(kernel, 0, lanes, value);
  return value;
}

}  // namespace

void run_trace(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const LmsPair pair = c.pair(c.number("lms_type"), c.number("ots_type"));
    const LmsTreeSecret tree = c.secret("seed", "I");
    const auto wanted = read_nodes(c, pair);
    const Bytes x = c.hex("x_q0_i0");
    const Bytes after_one = c.hex("chain_q0_i0_after1");
    const Bytes end = c.hex("chain_q0_i0_end");
    const Bytes k = c.hex("ots_public_q0");
    run.run(c, {pair.lms->hash, pair.lms->h}, [&](const HashMany& kernel, Check& check) {
      Bytes secret(pair.ots->n);
      lms_derive(pair.lms->hash, tree, 0, 0, secret);
      check.equal("x_q0_i0", secret, x);
      check.equal("chain_q0_i0_after1", chain_start(kernel, pair, tree, secret, 1), after_one);
      check.equal("chain_q0_i0_end", chain_start(kernel, pair, tree, secret, pair.ots->steps()),
                  end);
      const LmsTreeSecret* const one[] = {&tree};
      LmsTrees scheme(pair, one, kernel);
      check.equal("ots_public_q0", ots_public(kernel, scheme.ots(), tree), k);
      SubtreeBuilder builder(scheme, pair.lms->h);
      NamedNodes sink(pair.lms->h, wanted);
      const NodeRef root{0, {pair.lms->h, 0}};
      Bytes value(pair.lms->m);
      builder.build(std::span(&root, 1), &sink, value);
      for (const auto& [r, expected] : wanted) {
        check.equal("node " + std::to_string(r), sink.values[node_of(r, pair.lms->h)], expected);
      }
    });
  });
}

bool is_top_nodes(const Json& root) {
  return root.is_object() && root.contains("nodes") && root.contains("lms_type") &&
         root.contains("public_key");
}

// The file is one tree: its rows are folded from the deepest, and two nodes of that row are
// computed from their leaves.
void run_top_nodes(Run& run) {
  const Case c(run.root(), run.path(), "rows");
  const LmsPair pair = c.pair(c.number("lms_type"), c.number("ots_type"));
  const LmsTreeSecret tree = c.secret("seed", "I");
  const auto nodes = read_nodes(c, pair);
  const Bytes public_key = c.hex("public_key");
  const unsigned h = pair.lms->h;
  const auto depth = static_cast<unsigned>(std::bit_width(nodes.rbegin()->first) - 1);
  const std::uint64_t row = std::uint64_t{1} << depth;
  if (nodes.size() != 2 * row - 1) c.malformed("nodes are not all those of the upper rows");

  run.run(c, {pair.lms->hash, 0}, [&](const HashMany& kernel, Check& check) {
    TreeCache cache(0, h, depth, pair.lms->m);
    for (std::uint64_t r = row; r < 2 * row; ++r) cache.set(node_of(r, h), nodes.at(r));
    const LmsTreeSecret* const one[] = {&tree};
    LmsTrees scheme(pair, one, kernel);
    cache.fold(scheme);
    for (const auto& [r, value] : nodes) {
      check.equal("node " + std::to_string(r), cache.node(node_of(r, h)), value);
    }
    LmsPublicKey key{pair, tree.identifier, {}};
    std::ranges::copy(cache.root(), key.root.begin());
    check.equal("public key", key.encode(), public_key);
  });
  for (const std::uint64_t t : {std::uint64_t{17} % row, row - 1}) {
    const Case subtree(run.root(), run.path(), "node " + std::to_string(row + t));
    run.run(subtree, {pair.lms->hash, h - depth}, [&](const HashMany&, Check& check) {
      check.equal("node", run.engine().node(pair, tree, {h - depth, t}), nodes.at(row + t));
    });
  }
}

}  // namespace coppice::kat
