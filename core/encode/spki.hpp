// HSS public keys as SubjectPublicKeyInfo, DER and PEM. RFC 9708 section 4, RFC 9802 section 4.
#pragma once

#include <string>

#include "core/base/bytes.hpp"

namespace coppice {

// raw: the BIT STRING holds the HSS public key itself. wrapped: an OCTET STRING inside it, as software
// of the time of RFC 8708 wrote (Bouncy Castle before 1.80).
enum class SpkiForm { raw, wrapped };

// `hss_public_key` is u32 L || LMS public key, at most 100 bytes.
[[nodiscard]] Bytes encode_hss_spki(ByteView hss_public_key, SpkiForm form);
// Strict DER; accepts both forms. Errc::bad_data with what is wrong.
[[nodiscard]] Bytes decode_hss_spki(ByteView der);

[[nodiscard]] std::string pem_encode(std::string_view label, ByteView der);
// The first block with this label. Errc::bad_data when there is none or its base64 is damaged.
[[nodiscard]] Bytes pem_decode(std::string_view label, std::string_view text);

}  // namespace coppice
