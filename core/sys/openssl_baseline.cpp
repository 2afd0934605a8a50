// OpenSSL's hashing, as benchmarks compare it: never called outside "coppice bench" and tests.
#define OPENSSL_SUPPRESS_DEPRECATED  // SHA256_Transform: the baseline is the old, direct call
#include "core/sys/openssl_baseline.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>

namespace coppice {

void openssl_sha256_transform(std::array<std::uint32_t, 8>& state,
                              const std::uint8_t* block) noexcept {
  SHA256_CTX context{};
  std::copy(state.begin(), state.end(), context.h);
  SHA256_Transform(&context, block);
  std::copy_n(context.h, state.size(), state.begin());
}

void openssl_sha512_transform(std::array<std::uint64_t, 8>& state,
                              const std::uint8_t* block) noexcept {
  SHA512_CTX context{};
  std::copy(state.begin(), state.end(), context.h);
  SHA512_Transform(&context, block);
  std::copy_n(context.h, state.size(), state.begin());
}

static const char* evp_name(HashId hash) noexcept {
  switch (hash) {
    case HashId::sha256: return "SHA256";
    case HashId::shake256: return "SHAKE256";
    case HashId::sha512: return "SHA512";
  }
  return "?";
}

EvpHash::EvpHash(HashId hash)
    : md_(EVP_MD_fetch(nullptr, evp_name(hash), nullptr)),
      context_(EVP_MD_CTX_new()),
      xof_(hash == HashId::shake256) {
  if (md_ == nullptr || context_ == nullptr) {
    EVP_MD_free(static_cast<EVP_MD*>(md_));
    EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
    fail(Errc::unavailable, "OpenSSL cannot provide " + std::string(hash_name(hash)));
  }
}

EvpHash::~EvpHash() {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
  EVP_MD_free(static_cast<EVP_MD*>(md_));
}

void EvpHash::digest(ByteView message, std::uint8_t* out) noexcept {
  auto* context = static_cast<EVP_MD_CTX*>(context_);
  EVP_DigestInit_ex2(context, static_cast<EVP_MD*>(md_), nullptr);
  EVP_DigestUpdate(context, message.data(), message.size());
  if (xof_) {
    EVP_DigestFinalXOF(context, out, 32);
  } else {
    EVP_DigestFinal_ex(context, out, nullptr);
  }
}

}  // namespace coppice
