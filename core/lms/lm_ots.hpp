// LM-OTS one-time signatures in lanes: public keys, signing, verifying. RFC 8554 section 4.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/secret.hpp"
#include "core/hash/hash_many.hpp"
#include "core/lms/lms_params.hpp"

namespace coppice {

// Private part of one LMS tree: everything that its leaves are derived from. RFC 8554 Appendix A.
struct LmsTreeSecret {
  std::array<std::uint8_t, kIdentifierBytes> identifier{};  // I
  Secret<kMaxSeed> seed;                                    // SEED, the first seed_bytes
  std::size_t seed_bytes = 0;                               // 24 or 32 (32 also with n = 24)

  [[nodiscard]] ByteView seed_view() const noexcept { return ByteView(seed.bytes()).first(seed_bytes); }
};

// Index fields that take the place of the chain number i in the derivation formula of Appendix A
// (the convention shared by hash-sigs, wolfSSL and Botan).
inline constexpr std::uint16_t kDeriveRandomizer = 0xfffd;   // C, n bytes
inline constexpr std::uint16_t kDeriveChildSeed = 0xfffe;    // SEED of the child tree, n bytes
inline constexpr std::uint16_t kDeriveChildIdentifier = 0xffff;  // I of the child tree, 16 bytes

// out = first out.size() bytes of H(I || u32 q || u16 index || 0xff || SEED).
void lms_derive(HashId hash, const LmsTreeSecret& tree, std::uint32_t q, std::uint16_t index,
                ByteSpan out) noexcept;

// p digits of Q || checksum, most significant first. RFC 8554 sections 3.1.3 and 4.4.
void lm_ots_digits(const LmOtsParams& params, ByteView q_hash, std::span<std::uint32_t> digits) noexcept;

// Q = H(I || u32 q || D_MESG || C || message), n bytes. RFC 8554 section 4.5.
void lm_ots_message_hash(const LmOtsParams& params, ByteView identifier, std::uint32_t q,
                         ByteView randomizer, ByteView message, ByteSpan out) noexcept;

// Computes with one kernel and one set of lane buffers; one object per thread.
class LmOts {
 public:
  LmOts(const LmOtsParams& params, const HashMany& kernel);
  ~LmOts();  // wipes the lane buffers
  LmOts(const LmOts&) = delete;
  LmOts& operator=(const LmOts&) = delete;

  [[nodiscard]] const LmOtsParams& params() const noexcept { return params_; }
  [[nodiscard]] const HashMany& kernel() const noexcept { return kernel_; }

  // K of `lanes` leaves at once, one leaf per lane, left in lanes (n bytes each). Algorithm 1.
  // trees[l] and q[l] name lane l; fewer than kernel.lanes entries leave the other lanes undefined.
  void public_keys(std::span<const LmsTreeSecret* const> trees, std::span<const std::uint32_t> q,
                   void* k_lanes) noexcept;

  // signature = u32 type || C || y[0..p-1], chains in lanes. Algorithm 3.
  void sign(const LmsTreeSecret& tree, std::uint32_t q, ByteView randomizer, ByteView message,
            ByteSpan signature) noexcept;

  // K candidate of a signature whose type and length were checked before. Algorithm 4b.
  void recover_public_key(ByteView identifier, std::uint32_t q, ByteView message, ByteView signature,
                          ByteSpan k_out) noexcept;

 private:
  void hash_public_key(ByteView identifier, std::uint32_t q, ByteSpan k_out) noexcept;

  const LmOtsParams& params_;
  const HashMany& kernel_;
  std::uint8_t* chains_ = nullptr;  // p digests in lanes: z[0..p-1] of public_keys()
  std::uint8_t* seed_ = nullptr;    // SEED in lanes
  Bytes ends_;                      // p digests, packed: signing and verifying
};

}  // namespace coppice
