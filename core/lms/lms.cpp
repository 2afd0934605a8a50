// Leighton-Micali signatures: one Merkle tree of LM-OTS keys. RFC 8554 section 5.
#include "core/lms/lms.hpp"

#include <algorithm>
#include <new>

#include "core/hash/hasher.hpp"
#include "core/sys/wipe.hpp"

namespace coppice {
namespace {

constexpr std::uint16_t kDLeaf = 0x8282;  // section 7.1
constexpr std::uint16_t kDIntr = 0x8383;
constexpr std::size_t kAtNode = 16;    // u32 r
constexpr std::size_t kAtDomain = 20;  // u16 D
constexpr std::size_t kHeadBytes = 22;
constexpr std::size_t kLaneAlign = 64;

Verdict refuse(Rejection why, std::string detail) { return {why, 0, std::move(detail)}; }

}  // namespace

Bytes LmsPublicKey::encode() const {
  Bytes out;
  append_be32(out, pair.lms->type);
  append_be32(out, pair.ots->type);
  append(out, identifier);
  append(out, root_view());
  return out;
}

std::string_view Verdict::reason() const noexcept {
  switch (rejection) {
    case Rejection::none: return "ok";
    case Rejection::levels: return "levels";
    case Rejection::unknown_type: return "unknown type";
    case Rejection::ots_type_mismatch: return "ots type mismatch";
    case Rejection::too_short: return "too short";
    case Rejection::lms_type_mismatch: return "lms type mismatch";
    case Rejection::leaf_out_of_range: return "leaf number out of range";
    case Rejection::trailing_bytes: return "trailing bytes";
    case Rejection::root_mismatch: return "root mismatch";
  }
  return "?";
}

Verdict parse_lms_public_key(ByteView data, LmsPublicKey& out, std::size_t& used) {
  if (data.size() < 8) return refuse(Rejection::too_short, "public key is too short");
  std::string problem;
  if (!make_pair(load_be32(data.data()), load_be32(&data[4]), out.pair, problem)) {
    return refuse(Rejection::unknown_type, "public key: " + problem);
  }
  used = out.pair.public_key_bytes();
  if (data.size() < used) return refuse(Rejection::too_short, "public key is too short");
  std::copy_n(data.begin() + 8, kIdentifierBytes, out.identifier.begin());
  out.root.fill(0);
  std::copy_n(data.begin() + 8 + kIdentifierBytes, out.pair.lms->m, out.root.begin());
  return {};
}

Verdict parse_lms_signature(ByteView data, const LmsPair& pair, LmsSignatureView& out) {
  const std::size_t ots_bytes = pair.ots->signature_bytes();
  if (data.size() < 8) return refuse(Rejection::too_short, "signature is too short");
  out.q = load_be32(data.data());
  const std::uint32_t ots_type = load_be32(&data[4]);
  if (ots_type != pair.ots->type) {
    return refuse(Rejection::ots_type_mismatch, "LM-OTS type " + std::to_string(ots_type) +
                                                    " in the signature, " +
                                                    std::to_string(pair.ots->type) + " in the key");
  }
  if (data.size() < pair.signature_bytes()) {
    return refuse(Rejection::too_short, "signature is too short: " + std::to_string(data.size()) +
                                            " bytes where " +
                                            std::to_string(pair.signature_bytes()) + " belong");
  }
  const std::uint32_t lms_type = load_be32(&data[4 + ots_bytes]);
  if (lms_type != pair.lms->type) {
    return refuse(Rejection::lms_type_mismatch, "LMS type " + std::to_string(lms_type) +
                                                    " in the signature, " +
                                                    std::to_string(pair.lms->type) + " in the key");
  }
  if (out.q >> pair.lms->h != 0) {
    return refuse(Rejection::leaf_out_of_range, "leaf number " + std::to_string(out.q) +
                                                    " is outside a tree of height " +
                                                    std::to_string(pair.lms->h));
  }
  out.ots = data.subspan(4, ots_bytes);
  out.path = data.subspan(8 + ots_bytes, std::size_t{pair.lms->m} * pair.lms->h);
  return {};
}

bool lms_root_matches(const LmsPublicKey& key, ByteView message, const LmsSignatureView& signature,
                      LmOts& ots) {  // Algorithm 6a
  const std::size_t m = key.pair.lms->m;
  const HashId hash = key.pair.lms->hash;
  std::array<std::uint8_t, kMaxNode> k{};
  ots.recover_public_key(key.identifier, signature.q, message, signature.ots, k);

  std::array<std::uint8_t, 6> tail{};
  const auto set_tail = [&tail](std::uint32_t r, std::uint16_t domain) {
    store_be32(tail.data(), r);
    store_be16(&tail[4], domain);
  };
  std::uint32_t r = (std::uint32_t{1} << key.pair.lms->h) + signature.q;
  std::array<std::uint8_t, kMaxNode> node{};
  const ByteSpan value = ByteSpan(node).first(m);
  set_tail(r, kDLeaf);
  Hasher(hash).update(key.identifier).update(tail).update(ByteView(k).first(m)).final(value);
  for (std::size_t i = 0; r > 1; ++i, r /= 2) {
    const ByteView sibling = signature.path.subspan(i * m, m);
    set_tail(r / 2, kDIntr);
    Hasher h(hash);
    h.update(key.identifier).update(tail);
    if (r % 2 == 1) {
      h.update(sibling).update(value);
    } else {
      h.update(value).update(sibling);
    }
    h.final(value);
  }
  return equal(value, key.root_view());
}

Verdict lms_verify(const LmsPublicKey& key, ByteView message, ByteView signature,
                   const HashMany& kernel) {
  LmsSignatureView view;
  if (Verdict v = parse_lms_signature(signature, key.pair, view); !v.valid()) return v;
  if (signature.size() != key.pair.signature_bytes()) {
    return refuse(Rejection::trailing_bytes,
                  std::to_string(signature.size() - key.pair.signature_bytes()) +
                      " bytes after the end of the signature");
  }
  LmOts ots(*key.pair.ots, kernel);
  if (!lms_root_matches(key, message, view, ots)) {
    return refuse(Rejection::root_mismatch, "signature does not belong to this message and key");
  }
  return {};
}

void lms_sign(const LmsPair& pair, const LmsTreeSecret& tree, std::uint32_t q, ByteView path,
              ByteView message, LmOts& ots, ByteSpan out) noexcept {
  const std::size_t ots_bytes = pair.ots->signature_bytes();
  std::array<std::uint8_t, kMaxNode> randomizer{};
  const ByteSpan c = ByteSpan(randomizer).first(pair.ots->n);
  lms_derive(pair.lms->hash, tree, q, kDeriveRandomizer, c);
  store_be32(out.data(), q);
  ots.sign(tree, q, c, message, out.subspan(4, ots_bytes));
  store_be32(&out[4 + ots_bytes], pair.lms->type);
  std::copy(path.begin(), path.end(), out.begin() + static_cast<std::ptrdiff_t>(8 + ots_bytes));
}

LmsTrees::LmsTrees(const LmsPair& pair, std::span<const LmsTreeSecret* const> trees,
                   const HashMany& kernel)
    : pair_(pair), trees_(trees.begin(), trees.end()), kernel_(kernel), ots_(*pair.ots, kernel) {
  lanes_ = static_cast<std::uint8_t*>(
      ::operator new(2 * kMaxNode * kernel.lanes, std::align_val_t{kLaneAlign}));
}

LmsTrees::~LmsTrees() { ::operator delete(lanes_, std::align_val_t{kLaneAlign}); }

std::size_t LmsTrees::batch_leaves() const noexcept {
  // Eight lane groups: the rows above them then run mostly in full lanes (under 1 % of the work).
  std::size_t batch = 8;
  while (batch < 8 * std::size_t{kernel_.lanes}) batch *= 2;
  return batch;
}

MessageHead LmsTrees::group_head(std::span<const TreeIndex> tree_of_lane,
                                 std::uint16_t domain) noexcept {
  MessageHead head;
  const LmsTreeSecret& first = *trees_[tree_of_lane.front()];
  std::copy(first.identifier.begin(), first.identifier.end(), head.bytes.begin());
  store_be16(&head.bytes[kAtDomain], domain);
  head.length = kHeadBytes;
  const bool one_tree = std::ranges::all_of(
      tree_of_lane, [&](TreeIndex t) { return t == tree_of_lane.front(); });
  if (!one_tree) {
    for (std::size_t word = 0; word < 4; ++word) {
      for (std::size_t l = 0; l < tree_of_lane.size(); ++l) {
        identifier_field_[word][l] = load_be32(&trees_[tree_of_lane[l]]->identifier[4 * word]);
      }
      head.add_field(4 * word, identifier_field_[word].data());
    }
  }
  head.add_field(kAtNode, r_field_.data());
  return head;
}

void LmsTrees::leaves(std::span<const LeafRef> refs, ByteSpan out) noexcept {
  const std::size_t m = pair_.lms->m;
  const std::uint32_t leaf_base = std::uint32_t{1} << pair_.lms->h;
  std::array<const LmsTreeSecret*, kMaxLanes> tree{};
  std::array<TreeIndex, kMaxLanes> index{};
  std::array<std::uint32_t, kMaxLanes> q{};
  for (std::size_t done = 0; done < refs.size(); done += kernel_.lanes) {
    const std::size_t used = std::min<std::size_t>(kernel_.lanes, refs.size() - done);
    for (std::size_t l = 0; l < used; ++l) {
      index[l] = refs[done + l].tree;
      tree[l] = trees_[index[l]];
      q[l] = static_cast<std::uint32_t>(refs[done + l].leaf);
      r_field_[l] = leaf_base + q[l];
    }
    ots_.public_keys(std::span(tree).first(used), std::span(q).first(used), lanes_);
    const MessageHead head = group_head(std::span(index).first(used), kDLeaf);
    kernel_.digest(head, lanes_, m, m, lanes_);
    for (std::size_t l = 0; l < used; ++l) get_lane(kernel_, l, lanes_, out.subspan((done + l) * m, m));
  }
}

void LmsTrees::nodes(std::span<const NodeRef> parents, ByteView children, ByteSpan out) noexcept {
  const std::size_t m = pair_.lms->m;
  std::array<TreeIndex, kMaxLanes> index{};
  for (std::size_t done = 0; done < parents.size(); done += kernel_.lanes) {
    const std::size_t used = std::min<std::size_t>(kernel_.lanes, parents.size() - done);
    for (std::size_t l = 0; l < used; ++l) {
      const NodeRef& node = parents[done + l];
      index[l] = node.tree;
      r_field_[l] = (std::uint32_t{1} << (pair_.lms->h - node.id.height)) +
                    static_cast<std::uint32_t>(node.id.index);
      put_lane(kernel_, l, children.subspan((done + l) * 2 * m, 2 * m), lanes_);
    }
    const MessageHead head = group_head(std::span(index).first(used), kDIntr);
    kernel_.digest(head, lanes_, 2 * m, m, lanes_);
    for (std::size_t l = 0; l < used; ++l) get_lane(kernel_, l, lanes_, out.subspan((done + l) * m, m));
  }
}

}  // namespace coppice
