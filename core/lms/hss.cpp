// Hierarchical signatures: LMS trees that sign the public keys of the trees below. RFC 8554 section 6.
#include "core/lms/hss.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/merkle/auth_path.hpp"
#include "core/merkle/subtree_builder.hpp"

namespace coppice {
namespace {

Verdict at_level(Verdict v, std::size_t level) {
  v.level = static_cast<unsigned>(level);
  if (!v.valid()) v.detail = "level " + std::to_string(level) + ": " + v.detail;
  return v;
}

bool level_count_ok(std::uint32_t levels) { return levels >= 1 && levels <= kMaxHssLevels; }

}  // namespace

Bytes HssPublicKey::encode() const {
  Bytes out;
  append_be32(out, levels);
  append(out, top.encode());
  return out;
}

Verdict parse_hss_public_key(ByteView data, HssPublicKey& out) {
  if (data.size() < 4) return {Rejection::too_short, 0, "public key is too short"};
  out.levels = load_be32(data.data());
  if (!level_count_ok(out.levels)) {
    return {Rejection::levels, 0, "public key says " + std::to_string(out.levels) +
                                      " levels; 1 to 8 are possible"};
  }
  std::size_t used = 0;
  if (Verdict v = parse_lms_public_key(data.subspan(4), out.top, used); !v.valid()) return v;
  if (data.size() != 4 + used) {
    return {Rejection::trailing_bytes, 0, std::to_string(data.size() - 4 - used) +
                                              " bytes after the end of the public key"};
  }
  return {};
}

Verdict hss_verify(const HssPublicKey& key, ByteView message, ByteView signature,
                   const HashMany& kernel) {
  struct Part {
    LmsPublicKey key;
    LmsSignatureView signature;
    ByteView message;
  };
  if (!level_count_ok(key.levels)) return {Rejection::levels, 0, "public key has a wrong level count"};
  std::vector<Part> parts(key.levels);
  if (signature.size() < 4) return {Rejection::too_short, 0, "signature is too short"};
  const std::uint32_t nspk = load_be32(signature.data());
  if (nspk != key.levels - 1) {
    return {Rejection::levels, 0, "signature has " + std::to_string(std::uint64_t{nspk} + 1) +
                                      " levels, the public key " + std::to_string(key.levels)};
  }
  std::size_t at = 4;
  parts[0].key = key.top;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LmsPair& pair = parts[i].key.pair;
    // A level of another hash than the caller's kernel is refused rather than hashed wrongly.
    if (pair.lms->hash != kernel.hash) {
      return at_level({Rejection::unknown_type, 0, "hash differs from the top level's"}, i);
    }
    Verdict v = parse_lms_signature(signature.subspan(at), pair, parts[i].signature);
    if (!v.valid()) return at_level(std::move(v), i);
    at += pair.signature_bytes();
    if (i + 1 == parts.size()) break;
    std::size_t used = 0;
    v = parse_lms_public_key(signature.subspan(at), parts[i + 1].key, used);
    if (!v.valid()) return at_level(std::move(v), i + 1);
    parts[i].message = signature.subspan(at, used);
    at += used;
  }
  if (at != signature.size()) {
    return {Rejection::trailing_bytes, key.levels - 1,
            std::to_string(signature.size() - at) + " bytes after the end of the signature"};
  }
  parts.back().message = message;
  std::optional<LmOts> ots;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || parts[i].key.pair != parts[i - 1].key.pair) {
      ots.emplace(*parts[i].key.pair.ots, kernel);
    }
    if (!lms_root_matches(parts[i].key, parts[i].message, parts[i].signature, *ots)) {
      return at_level({Rejection::root_mismatch, 0,
                       "signature does not belong to this message and key"}, i);
    }
  }
  return {};
}

void DerivedChildren::child(unsigned, std::uint64_t, const LmsPair& pair,
                            const LmsTreeSecret& parent, std::uint32_t parent_q,
                            LmsTreeSecret& out) {
  const HashId hash = pair.lms->hash;
  out.seed_bytes = pair.lms->m;
  lms_derive(hash, parent, parent_q, kDeriveChildSeed, out.seed.writable().first(out.seed_bytes));
  lms_derive(hash, parent, parent_q, kDeriveChildIdentifier, out.identifier);
}

TreeCache SerialGrower::grow(const LmsPair& pair, const LmsTreeSecret& tree, unsigned depth) {
  const LmsTreeSecret* const one[] = {&tree};
  LmsTrees scheme(pair, one, kernel_);
  TreeCache cache(0, pair.lms->h, depth, scheme.node_bytes());
  SubtreeBuilder builder(scheme, pair.lms->h);
  const NodeRef root{0, {pair.lms->h, 0}};
  Bytes value(scheme.node_bytes());
  builder.build(std::span(&root, 1), &cache, value);
  return cache;
}

struct HssSigner::Level {
  LmsPair pair;
  std::uint64_t tree = 0;         // number of the active tree in this level
  LmsTreeSecret own_secret;       // lower levels
  const LmsTreeSecret* secret;    // own_secret or the caller's top
  std::optional<TreeCache> own_cache;
  const TreeCache* cache = nullptr;  // nullptr: no tree is active yet
  Bytes certificate;              // parent's signature over our public key || public key
  std::unique_ptr<LmsTrees> trees;

  // out = LMS signature by leaf q over message.
  void sign(std::uint32_t q, ByteView message, ByteSpan out) {
    const Bytes path = auth_path_from_cache(*cache, *trees, 0, q);
    lms_sign(pair, *secret, q, path, message, trees->ots(), out);
  }
};

HssSigner::HssSigner(HssParams params, const LmsTreeSecret& top, const TreeCache& top_cache,
                     ChildSource& children, TreeGrower& grower, const HashMany& kernel)
    : params_(std::move(params)), children_(children), grower_(grower), kernel_(kernel) {
  for (const LmsPair& pair : params_.levels) {
    auto level = std::make_unique<Level>();
    level->pair = pair;
    level->secret = &level->own_secret;
    levels_.push_back(std::move(level));
  }
  Level& first = *levels_.front();
  first.secret = &top;
  first.cache = &top_cache;
  const LmsTreeSecret* const one[] = {first.secret};
  first.trees = std::make_unique<LmsTrees>(first.pair, one, kernel_);
}

HssSigner::~HssSigner() = default;

void HssSigner::activate(std::size_t i, std::uint64_t index) {
  Level& level = *levels_[i];
  Level& parent = *levels_[i - 1];
  const std::uint64_t tree = params_.tree_at(i, index);
  if (level.cache != nullptr && level.tree == tree) return;
  level.cache = nullptr;  // stays inactive if anything below throws
  const auto parent_q = static_cast<std::uint32_t>(params_.leaf_at(i - 1, index));
  children_.child(static_cast<unsigned>(i), tree, level.pair, *parent.secret, parent_q,
                  level.own_secret);
  level.own_cache.emplace(
      grower_.grow(level.pair, level.own_secret, default_cache_depth(level.pair.lms->h)));
  const LmsTreeSecret* const one[] = {level.secret};
  level.trees = std::make_unique<LmsTrees>(level.pair, one, kernel_);

  LmsPublicKey key{level.pair, level.own_secret.identifier, {}};
  const ByteView root = level.own_cache->root();
  std::copy(root.begin(), root.end(), key.root.begin());
  const Bytes encoded = key.encode();
  level.certificate.resize(parent.pair.signature_bytes());
  parent.sign(parent_q, encoded, level.certificate);
  append(level.certificate, encoded);
  level.tree = tree;
  level.cache = &*level.own_cache;
}

Bytes HssSigner::sign(std::uint64_t index, ByteView message) {
  // Higher bits would fold back onto used leaves.
  if (index >= params_.capacity()) {
    fail(Errc::internal, "index " + std::to_string(index) + " is past the last signature of the key");
  }
  for (std::size_t i = 1; i < levels_.size(); ++i) activate(i, index);
  Bytes out;
  out.reserve(params_.signature_bytes());
  append_be32(out, static_cast<std::uint32_t>(levels_.size() - 1));
  for (std::size_t i = 1; i < levels_.size(); ++i) append(out, levels_[i]->certificate);
  Level& bottom = *levels_.back();
  const std::size_t at = out.size();
  out.resize(at + bottom.pair.signature_bytes());
  bottom.sign(static_cast<std::uint32_t>(params_.leaf_at(levels_.size() - 1, index)), message,
              ByteSpan(out).subspan(at));
  return out;
}

}  // namespace coppice
