// Files of hash-sigs: private key, public key and auxiliary data reproduced, signing continued.
#include <algorithm>
#include <charconv>

#include "core/encode/hash_sigs.hpp"
#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

struct Signature {
  Bytes message;
  std::uint64_t length;
  Bytes digest;
  Bytes bytes;  // empty when the file has only the digest
  Bytes prv_after;
};

struct Files {
  HssParams params;
  std::size_t budget = kHashSigsDefaultAux;
  Bytes prv, pub, seed, identifier;
  std::uint64_t aux_length;
  Bytes aux_digest;
  Bytes aux;  // empty when the file has only the digest
  std::vector<Signature> signatures;
};

// "10/4,5/8:2000": levels, and after the colon the byte budget of the auxiliary file.
void read_parameters(const Case& c, Files& files) {
  const std::string text = c.text("parameters");
  const std::size_t colon = text.find(':');
  files.params = parse_hss_params(std::string_view(text).substr(0, colon));
  if (colon == std::string::npos) return;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, files.budget);
  if (error != std::errc{} || stop != end) c.malformed("no number after the colon of 'parameters'");
}

Files read_files(const Case& c) {
  Files files;
  try {
    read_parameters(c, files);
  } catch (const Error& e) {
    c.malformed(e.what());
  }
  files.prv = c.hex("prv");
  files.pub = c.hex("pub");
  files.seed = c.hex("seed");
  files.identifier = c.hex("I");
  files.aux_length = c.number("aux_length");
  files.aux_digest = c.hex("aux_sha256");
  if (c.has("aux")) files.aux = c.hex("aux");
  for (const Json& s : c.list("signatures")) {
    const Case one(s, c.file(), c.id() + " signature " + std::to_string(files.signatures.size()));
    files.signatures.push_back(
        {one.hex("message"), one.number("signature_length"), one.hex("signature_sha256"),
         one.has("signature") ? one.hex("signature") : Bytes{}, one.hex("prv_after")});
  }
  if (files.signatures.empty()) c.malformed("no signatures");
  return files;
}

Bytes encoded(const HashSigsPrivateKey& key) {
  const WipedBytes file = encode_hash_sigs_private(key);
  return {file.view().begin(), file.view().end()};
}

void check_signature(const Signature& wanted, const std::string& what, const Bytes& signature,
                     const HssPublicKey& key, const HashMany& kernel, Check& check) {
  check.equal("length of the " + what, signature.size(), wanted.length);
  check.equal("SHA-256 of the " + what, sha256_of(signature), wanted.digest);
  if (!wanted.bytes.empty()) check.equal(what, signature, wanted.bytes);
  const Verdict v = hss_verify(key, wanted.message, signature, kernel);
  check.that(v.valid(), what + " does not verify: " + v.detail);
}

void check_files(Run& run, const Files& files, const HashMany& kernel, Check& check) {
  HashSigsPrivateKey key = decode_hash_sigs_private(files.prv);
  check.equal("parameters in prv", key.params.name(), files.params.name());
  check.equal("seed in prv", key.top.seed_view(), files.seed);
  check.equal("I in prv", key.top.identifier, files.identifier);
  check.equal("prv written again", encoded(key), files.prv);

  const LmsPair& top = key.params.levels.front();
  EngineGrower grower(run.engine());
  const unsigned depth =
      std::max(default_cache_depth(top.lms->h), hash_sigs_aux_depth(top, files.budget));
  const TreeCache cache = grower.grow(top, key.top, depth);
  HssPublicKey pub{static_cast<std::uint32_t>(key.params.levels.size()),
                   {top, key.top.identifier, {}}};
  std::ranges::copy(cache.root(), pub.top.root.begin());
  check.equal("pub", pub.encode(), files.pub);

  const Bytes aux = encode_hash_sigs_aux(top, key.top, cache, files.budget);
  check.equal("length of aux", aux.size(), files.aux_length);
  check.equal("SHA-256 of aux", sha256_of(aux), files.aux_digest);
  if (!files.aux.empty()) check.equal("aux", aux, files.aux);

  // The tool signs with the index in prv and stores the next one; any prv_after signs on.
  DerivedChildren children;
  HssSigner signer(key.params, key.top, cache, children, grower, kernel);
  std::uint64_t index = key.next;
  for (const Signature& wanted : files.signatures) {
    const std::string what = "signature of index " + std::to_string(index);
    check_signature(wanted, what, signer.sign(index, wanted.message), pub, kernel, check);
    key.next = index + 1;
    check.equal("prv after the " + what, encoded(key), wanted.prv_after);
    const HashSigsPrivateKey after = decode_hash_sigs_private(wanted.prv_after);
    check.equal("prv_after written again", encoded(after), wanted.prv_after);
    index = after.next;
  }
}

}  // namespace

void run_hash_sigs(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const Files files = read_files(c);
    run.run(c, {HashId::sha256, tallest(files.params)},
            [&](const HashMany& kernel, Check& check) { check_files(run, files, kernel, check); });
  });
}

}  // namespace coppice::kat
