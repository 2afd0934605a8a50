// Random bytes for keys, from OpenSSL's private DRBG (SP 800-90A).
#pragma once

#include "core/base/bytes.hpp"

namespace coppice {

// Fills `out`. Throws Errc::unavailable when the generator cannot be seeded; never returns short.
void random_private_bytes(ByteSpan out);

}  // namespace coppice
