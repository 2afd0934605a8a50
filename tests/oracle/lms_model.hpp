// A slow, plain model of LMS and HSS, written from RFC 8554 with byte strings and recursion.
// It shares only the scalar hashes with the program: no lanes, no tree engine, no parameter rows.
// Child trees and C are derived as hash-sigs does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/hash/hash_id.hpp"
#include "core/hash/keccak.hpp"
#include "core/hash/sha256.hpp"

namespace coppice::oracle {

inline Bytes u8(unsigned v) { return {static_cast<std::uint8_t>(v)}; }
inline Bytes u16(unsigned v) {
  return {static_cast<std::uint8_t>(v >> 8), static_cast<std::uint8_t>(v & 0xff)};
}
inline Bytes u32(std::uint64_t v) {
  const auto high = static_cast<unsigned>(v >> 16);
  const auto low = static_cast<unsigned>(v & 0xffff);
  Bytes out = u16(high);
  for (const std::uint8_t b : u16(low)) out.push_back(b);
  return out;
}
inline Bytes join(const std::vector<Bytes>& parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}
inline Bytes part(const Bytes& whole, std::size_t from, std::size_t count) {
  const auto at = whole.begin() + static_cast<std::ptrdiff_t>(from);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

// What a parameter set is in the standard: typecodes and the numbers they stand for.
struct Set {
  std::uint32_t lms_type, ots_type;
  HashId hash;
  unsigned n, w, h;

  // RFC 8554 Appendix B.
  [[nodiscard]] unsigned u() const { return (8 * n + w - 1) / w; }
  [[nodiscard]] unsigned v() const {
    unsigned bits = 0;
    while (((((1ULL << w) - 1) * u()) >> bits) > 1) ++bits;  // floor(log2)
    return (bits + 1 + w - 1) / w;
  }
  [[nodiscard]] unsigned p() const { return u() + v(); }
  [[nodiscard]] unsigned ls() const { return 16 - v() * w; }
  [[nodiscard]] unsigned top_digit() const { return (1U << w) - 1; }
};

class Tree {
 public:
  Tree(Set set, Bytes identifier, Bytes seed)
      : set_(set), identifier_(std::move(identifier)), seed_(std::move(seed)) {}

  [[nodiscard]] const Set& set() const { return set_; }

  [[nodiscard]] Bytes hash(const std::vector<Bytes>& parts, std::size_t length) const {
    const Bytes input = join(parts);
    Bytes out(length);
    if (set_.hash == HashId::sha256) {
      Sha256 h;
      h.update(input);
      h.final(out);
    } else {
      Shake256 h;
      h.update(input);
      h.final(out);
    }
    return out;
  }

  // H(I || q || index || 0xff || SEED): Appendix A, and with the indices above p the derivations of
  // C and of children.
  [[nodiscard]] Bytes derive(std::uint32_t q, unsigned index, std::size_t length) const {
    return hash({identifier_, u32(q), u16(index), u8(0xff), seed_}, length);
  }
  [[nodiscard]] Bytes walk(std::uint32_t q, unsigned i, unsigned from, unsigned to, Bytes x) const {
    for (unsigned j = from; j < to; ++j) x = hash({identifier_, u32(q), u16(i), u8(j), x}, set_.n);
    return x;
  }
  [[nodiscard]] Bytes ots_public(std::uint32_t q) const {  // Algorithm 1
    std::vector<Bytes> input = {identifier_, u32(q), u16(0x8080)};
    for (unsigned i = 0; i < set_.p(); ++i) {
      input.push_back(walk(q, i, 0, set_.top_digit(), derive(q, i, set_.n)));
    }
    return hash(input, set_.n);
  }

  // T[r], root 1, leaf q at 2^h + q. Section 5.3.
  const Bytes& node(std::uint32_t r) {
    const auto known = nodes_.find(r);
    if (known != nodes_.end()) return known->second;
    const std::uint32_t leaves = 1U << set_.h;
    Bytes value =
        r >= leaves
            ? hash({identifier_, u32(r), u16(0x8282), ots_public(r - leaves)}, set_.n)
            : hash({identifier_, u32(r), u16(0x8383), node(2 * r), node(2 * r + 1)}, set_.n);
    return nodes_[r] = std::move(value);
  }
  [[nodiscard]] Bytes public_key() {
    return join({u32(set_.lms_type), u32(set_.ots_type), identifier_, node(1)});
  }

  // The i-th w-bit group of s. Section 3.1.3.
  [[nodiscard]] unsigned digit(const Bytes& s, unsigned i) const {
    unsigned value = 0;
    for (unsigned bit = i * set_.w; bit < (i + 1) * set_.w; ++bit) {
      value = 2 * value + ((s[bit / 8] >> (7 - bit % 8)) & 1U);
    }
    return value;
  }
  [[nodiscard]] Bytes with_checksum(const Bytes& q_hash) const {  // section 4.4
    unsigned sum = 0;
    for (unsigned i = 0; i < set_.u(); ++i) sum += set_.top_digit() - digit(q_hash, i);
    return join({q_hash, u16((sum << set_.ls()) & 0xffff)});
  }
  [[nodiscard]] Bytes sign_ots(std::uint32_t q, const Bytes& message) const {  // Algorithm 3
    const Bytes c = derive(q, 0xfffd, set_.n);
    const Bytes digits =
        with_checksum(hash({identifier_, u32(q), u16(0x8181), c, message}, set_.n));
    std::vector<Bytes> out = {u32(set_.ots_type), c};
    for (unsigned i = 0; i < set_.p(); ++i) {
      out.push_back(walk(q, i, 0, digit(digits, i), derive(q, i, set_.n)));
    }
    return join(out);
  }
  [[nodiscard]] Bytes sign(std::uint32_t q, const Bytes& message) {  // section 5.4
    std::vector<Bytes> out = {u32(q), sign_ots(q, message), u32(set_.lms_type)};
    for (std::uint32_t r = (1U << set_.h) + q; r > 1; r /= 2) out.push_back(node(r ^ 1U));
    return join(out);
  }
  [[nodiscard]] Tree child(std::uint32_t q, const Set& set) const {
    return {set, derive(q, 0xffff, 16), derive(q, 0xfffe, set_.n)};
  }

 private:
  Set set_;
  Bytes identifier_;
  Bytes seed_;
  std::map<std::uint32_t, Bytes> nodes_;
};

// Algorithm 6a: a whole LMS signature under a whole LMS public key of the given set.
inline bool verify(const Set& set, const Bytes& key, const Bytes& message, const Bytes& signature) {
  const std::size_t n = set.n;
  const std::size_t ots_bytes = 4 + n * (set.p() + 1);
  if (key.size() != 24 + n || signature.size() != 8 + ots_bytes + n * set.h) return false;
  if (part(signature, 4, 4) != u32(set.ots_type) || part(key, 4, 4) != u32(set.ots_type))
    return false;
  if (part(signature, 4 + ots_bytes, 4) != u32(set.lms_type) ||
      part(key, 0, 4) != u32(set.lms_type)) {
    return false;
  }
  std::uint32_t q = 0;
  for (unsigned i = 0; i < 4; ++i) q = q * 256 + signature[i];
  if (q >= 1U << set.h) return false;
  const Tree tree(set, part(key, 8, 16), {});
  const Bytes id = part(key, 8, 16);
  const Bytes digits =
      tree.with_checksum(tree.hash({id, u32(q), u16(0x8181), part(signature, 8, n), message}, n));
  std::vector<Bytes> ends = {id, u32(q), u16(0x8080)};
  for (unsigned i = 0; i < set.p(); ++i) {
    ends.push_back(tree.walk(q, i, tree.digit(digits, i), set.top_digit(),
                             part(signature, 8 + n * (i + 1), n)));
  }
  std::uint32_t r = (1U << set.h) + q;
  Bytes value = tree.hash({id, u32(r), u16(0x8282), tree.hash(ends, n)}, n);
  for (unsigned level = 0; level < set.h; ++level, r /= 2) {
    const Bytes sibling = part(signature, 8 + ots_bytes + n * level, n);
    const auto pair = r % 2 == 1 ? join({sibling, value}) : join({value, sibling});
    value = tree.hash({id, u32(r / 2), u16(0x8383), pair}, n);
  }
  return value == part(key, 24, n);
}

// A whole hypertree from the (I, SEED) of its top tree. Section 6.
class Hypertree {
 public:
  Hypertree(std::vector<Set> sets, const Bytes& identifier, const Bytes& seed)
      : sets_(std::move(sets)) {
    trees_[{0, 0}] = std::make_unique<Tree>(sets_[0], identifier, seed);
  }
  [[nodiscard]] Bytes public_key() {
    return join({u32(sets_.size()), trees_[{0, 0}]->public_key()});
  }
  [[nodiscard]] Bytes sign(std::uint64_t index, const Bytes& message) {
    std::vector<std::uint32_t> leaf(sets_.size());
    std::vector<std::uint64_t> tree(sets_.size());
    for (std::size_t i = sets_.size(); i-- > 0;) {
      leaf[i] = static_cast<std::uint32_t>(index % (1ULL << sets_[i].h));
      index /= 1ULL << sets_[i].h;
      tree[i] = index;
    }
    std::vector<Bytes> out = {u32(sets_.size() - 1)};
    Tree* signer = trees_[{0, 0}].get();
    for (std::size_t i = 0; i + 1 < sets_.size(); ++i) {
      auto& slot = trees_[{i + 1, tree[i + 1]}];
      if (slot == nullptr) slot = std::make_unique<Tree>(signer->child(leaf[i], sets_[i + 1]));
      const Bytes key = slot->public_key();
      out.push_back(signer->sign(leaf[i], key));
      out.push_back(key);
      signer = slot.get();
    }
    out.push_back(signer->sign(leaf.back(), message));
    return join(out);
  }

 private:
  std::vector<Set> sets_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::unique_ptr<Tree>> trees_;
};

}  // namespace coppice::oracle
