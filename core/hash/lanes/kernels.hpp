// The batched kernels by instruction family, for dispatch.cpp alone. Contract: hash_many.hpp.
#pragma once

#include "core/hash/hash_many.hpp"

namespace coppice::lanes {

extern const HashMany sha256_portable;  // 4 lanes; SSE2 on x86-64, NEON on AArch64
extern const HashMany sha512_portable;  // 2 lanes
extern const HashMany keccak_portable;  // 2 lanes

#if defined(__x86_64__)
extern const HashMany sha256_avx512;  // 2 x 16 lanes
extern const HashMany sha256_sha_ni;  // 4 streams
extern const HashMany sha256_avx2;    // 8 lanes
extern const HashMany sha512_avx512;  // 2 x 8 lanes
extern const HashMany sha512_avx2;    // 4 lanes
extern const HashMany keccak_avx512;  // 8 lanes
extern const HashMany keccak_avx2;    // 4 lanes
#elif defined(__aarch64__)
extern const HashMany sha256_armv8;  // 4 streams, SHA2 extension
extern const HashMany keccak_armv8;  // 2 lanes, SHA3 extension
#endif

}  // namespace coppice::lanes
