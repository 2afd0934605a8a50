// Verification of LMS and HSS signatures and of encoded keys; refusals must give the right reason.
#include <algorithm>

#include "core/encode/spki.hpp"
#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

// The hash of the key's typecode; SHA-256 where the key says nothing that is known.
HashId hash_of_key(ByteView key, std::size_t at) {
  const LmsParams* row = key.size() >= at + 4 ? find_lms(load_be32(&key[at])) : nullptr;
  return row == nullptr ? HashId::sha256 : row->hash;
}

Verdict verify_lms(ByteView key_bytes, ByteView message, ByteView signature,
                   const HashMany& kernel) {
  LmsPublicKey key;
  std::size_t used = 0;
  if (Verdict v = parse_lms_public_key(key_bytes, key, used); !v.valid()) return v;
  if (used != key_bytes.size()) return {Rejection::trailing_bytes, 0, "bytes after the public key"};
  return lms_verify(key, message, signature, kernel);
}

Verdict verify_hss(ByteView key_bytes, ByteView message, ByteView signature,
                   const HashMany& kernel) {
  HssPublicKey key;
  if (Verdict v = parse_hss_public_key(key_bytes, key); !v.valid()) return v;
  return hss_verify(key, message, signature, kernel);
}

}  // namespace

void run_sigver(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const std::string kind = c.text("kind");
    if (kind != "lms" && kind != "hss") c.malformed("kind is neither lms nor hss");
    const bool hss = kind == "hss";
    const Bytes key = c.hex("public_key");
    const Bytes message = c.hex("message");
    const Bytes signature = c.hex("signature");
    const bool valid = c.flag("valid");
    const std::string expected = valid ? "ok" : c.text("checker_note");
    run.run(c, {hash_of_key(key, hss ? 4 : 0), 0}, [&](const HashMany& kernel, Check& check) {
      const Verdict v = hss ? verify_hss(key, message, signature, kernel)
                            : verify_lms(key, message, signature, kernel);
      const std::string reason = reason_of(v, hss);
      check.equal("verdict", reason, expected);
      check.that(v.valid() == valid,
                 valid ? "a valid signature is refused" : "a bad signature verifies");
      if (!v.valid() && !valid) {
        run.note(c, "rejected: " + reason + " (" + v.detail +
                        "; the source says: " + c.text("reason") + ")");
      }
    });
  });
}

void run_spki(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const std::string form = c.text("form");
    if (form != "raw" && form != "octet-string-wrapped") c.malformed("unknown form '" + form + "'");
    const Bytes key = c.hex("hss_public_key");
    const Bytes der = c.hex("spki_der");
    const Bytes message = c.hex("message");
    const Bytes signature = c.hex("signature");
    run.run(c, {hash_of_key(key, 4), 0}, [&](const HashMany& kernel, Check& check) {
      const SpkiForm ours = form == "raw" ? SpkiForm::raw : SpkiForm::wrapped;
      check.equal("encoded key", encode_hss_spki(key, ours), der);
      check.equal("decoded key", decode_hss_spki(der), key);
      check.equal("key through PEM", pem_decode("PUBLIC KEY", pem_encode("PUBLIC KEY", der)), der);
      check.equal("verdict",
                  reason_of(verify_hss(decode_hss_spki(der), message, signature, kernel), true),
                  "ok");
      Bytes other = message;
      other.push_back(0);
      check.that(!verify_hss(key, other, signature, kernel).valid(), "another message verifies");
    });
  });
}

}  // namespace coppice::kat
