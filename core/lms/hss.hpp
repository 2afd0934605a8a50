// Hierarchical signatures: LMS trees that sign the public keys of the trees below. RFC 8554 section 6.
#pragma once

#include <memory>
#include <vector>

#include "core/lms/lms.hpp"
#include "core/merkle/tree_cache.hpp"

namespace coppice {

// u32 L || LMS public key of the top tree. RFC 8554 section 6.1.
struct HssPublicKey {
  std::uint32_t levels = 0;
  LmsPublicKey top;

  [[nodiscard]] Bytes encode() const;
  bool operator==(const HssPublicKey&) const = default;
};

// The whole input must be the key. Rejections: levels, unknown_type, too_short, trailing_bytes.
[[nodiscard]] Verdict parse_hss_public_key(ByteView data, HssPublicKey& out);

// Parses every level before it hashes any; the verdict names the level. RFC 8554 section 6.3.
[[nodiscard]] Verdict hss_verify(const HssPublicKey& key, ByteView message, ByteView signature,
                                 const HashMany& kernel);

// Where the (SEED, I) of lower trees come from. `tree` counts the trees of a level from 0.
class ChildSource {
 public:
  virtual ~ChildSource() = default;
  virtual void child(unsigned level, std::uint64_t tree, const LmsPair& pair,
                     const LmsTreeSecret& parent, std::uint32_t parent_q, LmsTreeSecret& out) = 0;
};

// Derived from the parent's leaf as hash-sigs, wolfSSL and Botan do: n-byte SEED with index 0xfffe,
// 16-byte I with 0xffff. (SP 800-208 wants independent ones: a source that draws and stores them.)
class DerivedChildren final : public ChildSource {
 public:
  void child(unsigned level, std::uint64_t tree, const LmsPair& pair, const LmsTreeSecret& parent,
             std::uint32_t parent_q, LmsTreeSecret& out) override;
};

// Grows one whole tree; the node tier does it with threads.
class TreeGrower {
 public:
  virtual ~TreeGrower() = default;
  // The cache of the upper rows to `depth`.
  [[nodiscard]] virtual TreeCache grow(const LmsPair& pair, const LmsTreeSecret& tree,
                                       unsigned depth) = 0;
};

class SerialGrower final : public TreeGrower {
 public:
  explicit SerialGrower(const HashMany& kernel) : kernel_(kernel) {}
  [[nodiscard]] TreeCache grow(const LmsPair& pair, const LmsTreeSecret& tree, unsigned depth) override;

 private:
  const HashMany& kernel_;
};

// Rows worth keeping so that a signature recomputes at most 2^8 leaves: h - 8, at least 0.
[[nodiscard]] constexpr unsigned default_cache_depth(unsigned tree_height) noexcept {
  return tree_height > 8 ? tree_height - 8 : 0;
}

// Signs with any index; keeps the active tree of each level, so running indices cost one leaf each.
// It knows nothing of state: the caller has durably used the index before it asks.
class HssSigner {
 public:
  // `top_cache` is consistent with the public key (checked by the caller). All references outlive this.
  HssSigner(HssParams params, const LmsTreeSecret& top, const TreeCache& top_cache,
            ChildSource& children, TreeGrower& grower, const HashMany& kernel);
  ~HssSigner();

  // params.signature_bytes() bytes. Throws Errc::bad_data when the cache proves wrong on the way and
  // Errc::internal for an index that is not below params.capacity().
  [[nodiscard]] Bytes sign(std::uint64_t index, ByteView message);

 private:
  struct Level;
  void activate(std::size_t level, std::uint64_t index);

  HssParams params_;
  ChildSource& children_;
  TreeGrower& grower_;
  const HashMany& kernel_;
  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace coppice
