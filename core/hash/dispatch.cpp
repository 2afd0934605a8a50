// Kernel choice at run time: the only file that looks at the CPU. Contract: dispatch.hpp.
#include "core/hash/dispatch.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/error.hpp"
#include "core/hash/lanes/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace coppice {
namespace {

// Bit numbers in our own word of CPU features; the names are those of /proc/cpuinfo.
enum Feature : std::uint32_t {
  kSse41,
  kSha,
  kAvx2,
  kAvx512f,
  kAvx512bw,
  kAvx512dq,
  kAvx512vl,
  kAvx512vbmi,
  kAvx512vbmi2,
  kAvx512ifma,
  kGfni,
  kVaes,
  kArmSha2,
  kArmSha3,
  kFeatureCount
};
constexpr std::array<std::string_view, kFeatureCount> kFeatureNames = {
    "sse4_1",      "sha_ni",       "avx2",        "avx512f", "avx512bw", "avx512dq", "avx512vl",
    "avx512_vbmi", "avx512_vbmi2", "avx512_ifma", "gfni",    "vaes",     "sha2",     "sha3"};

constexpr std::uint32_t bit(Feature f) { return 1u << f; }

#if defined(__x86_64__)
// What the CPU has and the operating system saves on a context switch (Intel SDM vol. 1, 13.2).
std::uint32_t detect() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const bool ssse3 = (c >> 9 & 1) != 0;
  const bool sse41 = (c >> 19 & 1) != 0;
  std::uint64_t saved = 0;  // XCR0
  if ((c >> 27 & 1) != 0) {
    std::uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    saved = std::uint64_t{high} << 32 | low;
  }
  const bool ymm = (saved & 0x06) == 0x06;
  const bool zmm = (saved & 0xe6) == 0xe6;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) b = c = 0;
  std::uint32_t have = 0;
  const auto note = [&](Feature f, bool there) { have |= there ? bit(f) : 0; };
  note(kSse41, sse41);
  note(kSha, sse41 && ssse3 && (b >> 29 & 1) != 0);
  note(kAvx2, ymm && (b >> 5 & 1) != 0);
  note(kAvx512f, zmm && (b >> 16 & 1) != 0);
  note(kAvx512dq, zmm && (b >> 17 & 1) != 0);
  note(kAvx512ifma, zmm && (b >> 21 & 1) != 0);
  note(kAvx512bw, zmm && (b >> 30 & 1) != 0);
  note(kAvx512vl, zmm && (b >> 31 & 1) != 0);
  note(kAvx512vbmi, zmm && (c >> 1 & 1) != 0);
  note(kAvx512vbmi2, zmm && (c >> 6 & 1) != 0);
  note(kGfni, sse41 && (c >> 8 & 1) != 0);
  note(kVaes, ymm && (c >> 9 & 1) != 0);
  return have;
}
#elif defined(__aarch64__) && defined(__linux__)
std::uint32_t detect() {
  const unsigned long caps = getauxval(AT_HWCAP);
  return ((caps & HWCAP_SHA2) != 0 ? bit(kArmSha2) : 0) |
         ((caps & HWCAP_SHA3) != 0 ? bit(kArmSha3) : 0);
}
#else
std::uint32_t detect() { return 0; }
#endif

std::uint32_t features() {
  static const std::uint32_t found = detect();
  return found;
}

struct Entry {
  const HashMany* kernel;
  std::uint32_t needs;
};

#if defined(__x86_64__)
constexpr std::uint32_t kAvx512Unit = bit(kAvx2) | bit(kAvx512f) | bit(kAvx512bw) | bit(kAvx512dq) |
                                      bit(kAvx512vl) | bit(kAvx512vbmi2);
#endif

// All kernels of this build, best first for each hash.
// clang-format off
constexpr Entry kAll[] = {
#if defined(__x86_64__)
    {&lanes::sha256_avx512, kAvx512Unit},
    {&lanes::sha256_sha_ni, bit(kSha)},
    {&lanes::sha256_avx2, bit(kAvx2)},
    {&lanes::sha512_avx512, kAvx512Unit},
    {&lanes::sha512_avx2, bit(kAvx2)},
    {&lanes::keccak_avx512, kAvx512Unit},
    {&lanes::keccak_avx2, bit(kAvx2)},
#elif defined(__aarch64__)
    {&lanes::sha256_armv8, bit(kArmSha2)},
    {&lanes::keccak_armv8, bit(kArmSha3)},
#endif
    {&lanes::sha256_portable, 0},
    {&lanes::sha512_portable, 0},
    {&lanes::keccak_portable, 0},
};
// clang-format on

std::vector<const HashMany*> usable(HashId hash) {
  std::vector<const HashMany*> list;
  for (const Entry& e : kAll) {
    if (e.kernel->hash == hash && (e.needs & ~features()) == 0) list.push_back(e.kernel);
  }
  return list;
}

}  // namespace

std::span<const HashMany* const> kernels(HashId hash) {
  static const std::vector<const HashMany*> sha256 = usable(HashId::sha256);
  static const std::vector<const HashMany*> shake256 = usable(HashId::shake256);
  static const std::vector<const HashMany*> sha512 = usable(HashId::sha512);
  switch (hash) {
    case HashId::sha256:
      return sha256;
    case HashId::shake256:
      return shake256;
    case HashId::sha512:
      return sha512;
  }
  return {};
}

const HashMany& select_kernel(HashId hash, std::string_view forced) {
  const auto usable_here = kernels(hash);
  if (forced.empty()) return *usable_here.front();
  for (const HashMany* k : usable_here) {
    if (k->name == forced) return *k;
  }
  std::string names;
  for (const Entry& e : kAll) {
    if (e.kernel->hash != hash) continue;
    if (e.kernel->name == forced) {
      fail(Errc::unavailable, "kernel '" + std::string(forced) + "' of " +
                                  std::string(hash_name(hash)) + ": this CPU cannot run it");
    }
    if (!names.empty()) names += ", ";
    names += e.kernel->name;
  }
  fail(Errc::usage, "unknown kernel '" + std::string(forced) + "' of " +
                        std::string(hash_name(hash)) + "; there are: " + names);
}

std::string cpu_features() {
  std::string names;
  for (std::uint32_t f = 0; f < kFeatureCount; ++f) {
    if ((features() >> f & 1) == 0) continue;
    if (!names.empty()) names += ' ';
    names += kFeatureNames[f];
  }
  return names;
}

}  // namespace coppice
