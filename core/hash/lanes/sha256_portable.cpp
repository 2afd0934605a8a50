// SHA-256 in 4 lanes of 16-byte vectors, compiled for the baseline: SSE2, NEON or plain words.
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha256_lanes.inl"

namespace coppice {
namespace {

struct Portable {
  using Word = std::uint32_t;
  using P __attribute__((vector_size(16))) = std::uint32_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static void compress(P* state, P* w) noexcept { sha256_compress_lanes(state, w); }
  template <class... Args>
  static std::size_t inner(const Args&...) noexcept {
    return 0;
  }
  template <class... Args>
  static bool fused_chain(const Args&...) noexcept {
    return false;
  }
};

}  // namespace

constinit const HashMany lanes::sha256_portable = {
    "portable", HashId::sha256, 4, 4, true, sha256_digest<Portable>, sha256_chain<Portable>};

}  // namespace coppice
