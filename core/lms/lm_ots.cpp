// LM-OTS one-time signatures in lanes: public keys, signing, verifying. RFC 8554 section 4.
#include "core/lms/lm_ots.hpp"

#include <algorithm>
#include <new>

#include "core/hash/hasher.hpp"
#include "core/sys/wipe.hpp"

namespace coppice {
namespace {

constexpr std::uint16_t kDPblc = 0x8080;  // section 7.1
constexpr std::uint16_t kDMesg = 0x8181;
constexpr std::size_t kLaneAlign = 64;

// Offsets in every hash input of section 7.1: I(16) || u32 q || u16 i or D || ...
constexpr std::size_t kAtQ = 16;
constexpr std::size_t kAtIndex = 20;
constexpr std::size_t kAtStep = 22;  // j of a chain step, 0xff of a derivation

MessageHead make_head(ByteView identifier, std::uint32_t q, std::uint16_t index, std::size_t length) {
  MessageHead head;
  std::copy(identifier.begin(), identifier.end(), head.bytes.begin());
  store_be32(&head.bytes[kAtQ], q);
  store_be16(&head.bytes[kAtIndex], index);
  head.length = static_cast<std::uint8_t>(length);
  return head;
}

std::uint8_t* allocate_lanes(std::size_t bytes) {
  return static_cast<std::uint8_t*>(::operator new(bytes, std::align_val_t{kLaneAlign}));
}

void free_lanes(std::uint8_t* p, std::size_t bytes) noexcept {
  if (p == nullptr) return;
  wipe(p, bytes);
  ::operator delete(p, std::align_val_t{kLaneAlign});
}

}  // namespace

void lms_derive(HashId hash, const LmsTreeSecret& tree, std::uint32_t q, std::uint16_t index,
                ByteSpan out) noexcept {
  std::array<std::uint8_t, 23> head{};
  std::copy(tree.identifier.begin(), tree.identifier.end(), head.begin());
  store_be32(&head[kAtQ], q);
  store_be16(&head[kAtIndex], index);
  head[kAtStep] = 0xff;
  Hasher(hash).update(head).update(tree.seed_view()).final(out);
}

void lm_ots_digits(const LmOtsParams& params, ByteView q_hash,
                   std::span<std::uint32_t> digits) noexcept {
  const unsigned w = params.w;
  const auto coef = [w](ByteView s, std::size_t i) -> std::uint32_t {  // section 3.1.3
    return (s[i * w / 8] >> (8 - w - (i * w) % 8)) & ((1U << w) - 1);
  };
  const std::size_t u = 8 * std::size_t{params.n} / w;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < u; ++i) {
    digits[i] = coef(q_hash, i);
    sum += params.steps() - digits[i];
  }
  std::array<std::uint8_t, 2> checksum{};
  store_be16(checksum.data(), static_cast<std::uint16_t>(sum << params.ls));
  for (std::size_t i = u; i < params.p; ++i) digits[i] = coef(checksum, i - u);
}

void lm_ots_message_hash(const LmOtsParams& params, ByteView identifier, std::uint32_t q,
                         ByteView randomizer, ByteView message, ByteSpan out) noexcept {
  std::array<std::uint8_t, 6> tail{};
  store_be32(tail.data(), q);
  store_be16(&tail[4], kDMesg);
  Hasher(params.hash)
      .update(identifier)
      .update(tail)
      .update(randomizer)
      .update(message)
      .final(out.first(params.n));
}

LmOts::LmOts(const LmOtsParams& params, const HashMany& kernel)
    : params_(params), kernel_(kernel), ends_(std::size_t{params.p} * params.n) {
  chains_ = allocate_lanes(std::size_t{params.p} * params.n * kernel.lanes);
  seed_ = allocate_lanes(kMaxSeed * kernel.lanes);
}

LmOts::~LmOts() {
  free_lanes(chains_, std::size_t{params_.p} * params_.n * kernel_.lanes);
  free_lanes(seed_, kMaxSeed * kernel_.lanes);
  wipe(ends_.data(), ends_.size());
}

void LmOts::public_keys(std::span<const LmsTreeSecret* const> trees,
                        std::span<const std::uint32_t> q, void* k_lanes) noexcept {
  const std::size_t used = trees.size();
  const std::size_t n = params_.n;
  std::array<std::uint32_t, kMaxLanes> q_field{};
  std::array<std::array<std::uint32_t, kMaxLanes>, 4> identifier_field{};
  bool one_tree = true;
  for (std::size_t l = 0; l < kernel_.lanes; ++l) {
    const std::size_t from = std::min(l, used - 1);  // idle lanes repeat the last leaf
    q_field[l] = q[from];
    one_tree = one_tree && trees[from] == trees[0];
    put_lane(kernel_, l, trees[from]->seed_view(), seed_);
  }
  MessageHead head = make_head(trees[0]->identifier, 0, 0, kAtStep + 1);
  if (!one_tree) {
    for (std::size_t word = 0; word < 4; ++word) {
      for (std::size_t l = 0; l < kernel_.lanes; ++l) {
        identifier_field[word][l] = load_be32(&trees[std::min(l, used - 1)]->identifier[4 * word]);
      }
      head.add_field(4 * word, identifier_field[word].data());
    }
  }
  head.add_field(kAtQ, q_field.data());
  const std::size_t seed_bytes = trees[0]->seed_bytes;
  const std::size_t slot = n * kernel_.lanes;
  ChainSteps steps;
  steps.counter = kAtStep;
  steps.last = params_.steps();
  for (unsigned i = 0; i < params_.p; ++i) {
    std::uint8_t* x = chains_ + i * slot;
    store_be16(&head.bytes[kAtIndex], static_cast<std::uint16_t>(i));
    head.bytes[kAtStep] = 0xff;
    kernel_.digest(head, seed_, seed_bytes, n, x);  // x_q[i], Appendix A
    head.bytes[kAtStep] = 0;
    kernel_.chain(head, steps, n, x);
  }
  store_be16(&head.bytes[kAtIndex], kDPblc);
  head.length = kAtStep;
  kernel_.digest(head, chains_, params_.p * n, n, k_lanes);
}

void LmOts::sign(const LmsTreeSecret& tree, std::uint32_t q, ByteView randomizer, ByteView message,
                 ByteSpan signature) noexcept {
  const std::size_t n = params_.n;
  std::array<std::uint8_t, kMaxNode> q_hash{};
  std::array<std::uint32_t, 265> digits{};
  lm_ots_message_hash(params_, tree.identifier, q, randomizer, message, q_hash);
  lm_ots_digits(params_, ByteView(q_hash).first(n), digits);

  store_be32(signature.data(), params_.type);
  std::copy_n(randomizer.begin(), n, signature.begin() + 4);
  const ByteSpan y = signature.subspan(4 + n);

  for (std::size_t l = 0; l < kernel_.lanes; ++l) put_lane(kernel_, l, tree.seed_view(), seed_);
  std::array<std::uint32_t, kMaxLanes> index_field{};
  std::array<std::uint32_t, kMaxLanes> last{};
  for (std::size_t first = 0; first < params_.p; first += kernel_.lanes) {
    for (std::size_t l = 0; l < kernel_.lanes; ++l) {
      const std::size_t i = std::min<std::size_t>(first + l, params_.p - 1);
      index_field[l] = static_cast<std::uint32_t>(i << 16) | 0xff00;
      last[l] = first + l < params_.p ? digits[i] : 0;
    }
    MessageHead head = make_head(tree.identifier, q, 0, kAtStep + 1);
    head.add_field(kAtIndex, index_field.data());
    kernel_.digest(head, seed_, tree.seed_bytes, n, chains_);
    for (std::size_t l = 0; l < kernel_.lanes; ++l) index_field[l] &= 0xffff0000U;
    ChainSteps steps;
    steps.counter = kAtStep;
    steps.last = *std::max_element(last.begin(), last.begin() + kernel_.lanes);
    steps.lane_last = last.data();
    kernel_.chain(head, steps, n, chains_);
    for (std::size_t l = 0; l < kernel_.lanes && first + l < params_.p; ++l) {
      get_lane(kernel_, l, chains_, y.subspan((first + l) * n, n));
    }
  }
}

void LmOts::recover_public_key(ByteView identifier, std::uint32_t q, ByteView message,
                               ByteView signature, ByteSpan k_out) noexcept {
  const std::size_t n = params_.n;
  std::array<std::uint8_t, kMaxNode> q_hash{};
  std::array<std::uint32_t, 265> digits{};
  lm_ots_message_hash(params_, identifier, q, signature.subspan(4, n), message, q_hash);
  lm_ots_digits(params_, ByteView(q_hash).first(n), digits);
  const ByteView y = signature.subspan(4 + n);

  std::array<std::uint32_t, kMaxLanes> index_field{};
  std::array<std::uint32_t, kMaxLanes> start{};
  for (std::size_t first = 0; first < params_.p; first += kernel_.lanes) {
    for (std::size_t l = 0; l < kernel_.lanes; ++l) {
      const std::size_t i = std::min<std::size_t>(first + l, params_.p - 1);
      index_field[l] = static_cast<std::uint32_t>(i << 16);
      start[l] = first + l < params_.p ? digits[i] : params_.steps();
      put_lane(kernel_, l, y.subspan(i * n, n), chains_);
    }
    MessageHead head = make_head(identifier, q, 0, kAtStep + 1);
    head.add_field(kAtIndex, index_field.data());
    ChainSteps steps;
    steps.counter = kAtStep;
    steps.first = *std::min_element(start.begin(), start.begin() + kernel_.lanes);
    steps.last = params_.steps();
    steps.lane_first = start.data();
    kernel_.chain(head, steps, n, chains_);
    for (std::size_t l = 0; l < kernel_.lanes && first + l < params_.p; ++l) {
      get_lane(kernel_, l, chains_, ByteSpan(ends_).subspan((first + l) * n, n));
    }
  }
  hash_public_key(identifier, q, k_out);
}

void LmOts::hash_public_key(ByteView identifier, std::uint32_t q, ByteSpan k_out) noexcept {
  std::array<std::uint8_t, 6> tail{};
  store_be32(tail.data(), q);
  store_be16(&tail[4], kDPblc);
  Hasher(params_.hash).update(identifier).update(tail).update(ends_).final(k_out.first(params_.n));
}

}  // namespace coppice
