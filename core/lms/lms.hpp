// Leighton-Micali signatures: one Merkle tree of LM-OTS keys. RFC 8554 section 5.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/hash/hash_many.hpp"
#include "core/lms/lm_ots.hpp"
#include "core/lms/lms_params.hpp"
#include "core/merkle/tree_scheme.hpp"

namespace coppice {

// u32 lmsType || u32 otsType || I(16) || T[1](m). RFC 8554 section 5.3.
struct LmsPublicKey {
  LmsPair pair;
  std::array<std::uint8_t, kIdentifierBytes> identifier{};
  std::array<std::uint8_t, kMaxNode> root{};  // the first m bytes

  [[nodiscard]] ByteView root_view() const noexcept { return ByteView(root).first(pair.lms->m); }
  [[nodiscard]] Bytes encode() const;
  bool operator==(const LmsPublicKey&) const = default;
};

// Why a signature or public key was refused, in the order in which things are checked.
enum class Rejection {
  none,
  levels,             // HSS: L outside 1..8, or Nspk + 1 != L
  unknown_type,       // public key: unknown or mixed typecodes
  ots_type_mismatch,  // signature's LM-OTS type is not the public key's
  too_short,
  lms_type_mismatch,
  leaf_out_of_range,  // q >= 2^h
  trailing_bytes,
  root_mismatch,      // all well formed, wrong message, signature or key
};

struct Verdict {
  Rejection rejection = Rejection::none;
  unsigned level = 0;   // HSS level at which the check failed, 0 = top
  std::string detail;   // one phrase for a person

  [[nodiscard]] bool valid() const noexcept { return rejection == Rejection::none; }
  // "ok", "levels", "ots type mismatch", "root mismatch", ...
  [[nodiscard]] std::string_view reason() const noexcept;
};

// Reads an LMS public key at the start of `data`; `used` receives its length.
[[nodiscard]] Verdict parse_lms_public_key(ByteView data, LmsPublicKey& out, std::size_t& used);

// u32 q || LM-OTS signature || u32 lmsType || path. Views into the parsed input.
struct LmsSignatureView {
  std::uint32_t q = 0;
  ByteView ots;   // whole LM-OTS signature
  ByteView path;  // h * m bytes, leaf sibling first
};
// Reads one signature by the lengths of `pair` (never by codes in the signature). Algorithm 6a.
[[nodiscard]] Verdict parse_lms_signature(ByteView data, const LmsPair& pair, LmsSignatureView& out);

[[nodiscard]] Verdict lms_verify(const LmsPublicKey& key, ByteView message, ByteView signature,
                                 const HashMany& kernel);
// Algorithm 6a, steps 4 and 5, on a parsed signature.
[[nodiscard]] bool lms_root_matches(const LmsPublicKey& key, ByteView message,
                                    const LmsSignatureView& signature, LmOts& ots);

// out = pair.signature_bytes() bytes: signs with leaf q and the given path (h * m bytes). The caller
// has made q durably used before. C is derived (kDeriveRandomizer), so the same key, q and message
// give the same bytes.
void lms_sign(const LmsPair& pair, const LmsTreeSecret& tree, std::uint32_t q, ByteView path,
              ByteView message, LmOts& ots, ByteSpan out) noexcept;

// The tree engine's view: leaves are H(I || u32 r || D_LEAF || K), nodes H(I || u32 r || D_INTR || l || r).
class LmsTrees final : public TreeScheme {
 public:
  // All trees have the types of `pair` and the same seed length; NodeRef::tree indexes `trees`.
  LmsTrees(const LmsPair& pair, std::span<const LmsTreeSecret* const> trees, const HashMany& kernel);
  ~LmsTrees() override;

  [[nodiscard]] std::size_t node_bytes() const noexcept override { return pair_.lms->m; }
  [[nodiscard]] std::size_t batch_leaves() const noexcept override;
  void leaves(std::span<const LeafRef> refs, ByteSpan out) noexcept override;
  void nodes(std::span<const NodeRef> parents, ByteView children, ByteSpan out) noexcept override;
  [[nodiscard]] LmOts& ots() noexcept { return ots_; }

 private:
  // Head I || u32 r || domain for a lane group; fields point into the arrays below.
  MessageHead group_head(std::span<const TreeIndex> tree_of_lane, std::uint16_t domain) noexcept;

  LmsPair pair_;
  std::vector<const LmsTreeSecret*> trees_;
  const HashMany& kernel_;
  LmOts ots_;
  std::uint8_t* lanes_ = nullptr;  // two digests in lanes
  std::array<std::uint32_t, kMaxLanes> r_field_{};
  std::array<std::array<std::uint32_t, kMaxLanes>, 4> identifier_field_{};
};

class LmsTreesFactory final : public TreeSchemeFactory {
 public:
  LmsTreesFactory(const LmsPair& pair, std::span<const LmsTreeSecret* const> trees,
                  const HashMany& kernel)
      : pair_(pair), trees_(trees.begin(), trees.end()), kernel_(kernel) {}
  [[nodiscard]] std::unique_ptr<TreeScheme> make() const override {
    return std::make_unique<LmsTrees>(pair_, trees_, kernel_);
  }
  [[nodiscard]] std::size_t node_bytes() const noexcept override { return pair_.lms->m; }

 private:
  LmsPair pair_;
  std::vector<const LmsTreeSecret*> trees_;
  const HashMany& kernel_;
};

}  // namespace coppice
