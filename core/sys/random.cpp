// Random bytes for keys, from OpenSSL's private DRBG (SP 800-90A).
#include "core/sys/random.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "core/base/checked_cast.hpp"

namespace coppice {

void random_private_bytes(ByteSpan out) {
  if (RAND_priv_bytes(out.data(), checked_cast<int>(out.size())) != 1) {
    fail(Errc::unavailable, "the system's random generator is not available (OpenSSL RAND)");
  }
}

std::string crypto_library_version() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

}  // namespace coppice
