// SHA-512 in 2 lanes of 16-byte vectors, compiled for the baseline: SSE2, NEON or plain words.
#include "core/hash/lanes/kernels.hpp"
#include "core/hash/lanes/sha512_lanes.inl"

namespace coppice {
namespace {

struct Portable {
  using Word = std::uint64_t;
  using P __attribute__((vector_size(16))) = std::uint64_t;
  static constexpr bool kBigEndian = true;
  static constexpr std::size_t kBlockWords = 16;

  static P wide_field(const std::uint32_t* field) { return widen_field<P, 2, false>(field); }
};

}  // namespace

constinit const HashMany lanes::sha512_portable = {
    "portable", HashId::sha512, 2, 8, true, sha512_digest<Portable>, sha512_chain<Portable>};

}  // namespace coppice
