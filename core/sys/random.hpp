// Random bytes for keys, from OpenSSL's private DRBG (SP 800-90A).
#pragma once

#include "core/base/bytes.hpp"

namespace coppice {

// Fills `out`. Throws Errc::unavailable when the generator cannot be seeded; never returns short.
void random_private_bytes(ByteSpan out);

// Version of the library behind it, for reports: "3.0.15".
[[nodiscard]] std::string crypto_library_version();

}  // namespace coppice
