// HSS public keys as SubjectPublicKeyInfo, DER and PEM. RFC 9708 section 4, RFC 9802 section 4.
#include "core/encode/spki.hpp"

#include <algorithm>
#include <array>

namespace coppice {
namespace {

// AlgorithmIdentifier { id-alg-hss-lms-hashsig 1.2.840.113549.1.9.16.3.17 }, parameters absent.
constexpr std::array<std::uint8_t, 15> kAlgorithm = {0x30, 0x0d, 0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86,
                                                     0xf7, 0x0d, 0x01, 0x09, 0x10, 0x03, 0x11};
constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t kBitString = 0x03;
constexpr std::uint8_t kOctetString = 0x04;
constexpr std::size_t kShortLength = 127;  // one length byte is enough for every HSS key

Bytes tagged(std::uint8_t tag, ByteView content) {
  if (content.size() > kShortLength) fail(Errc::internal, "DER content is too long for an HSS key");
  Bytes out = {tag, static_cast<std::uint8_t>(content.size())};
  append(out, content);
  return out;
}

ByteView expect(Reader& in, std::uint8_t tag, const char* name) {
  const ByteView head = in.take(2);
  if (head[0] != tag || head[1] > kShortLength) {
    fail(Errc::bad_data, std::string("public key is not an HSS SubjectPublicKeyInfo: ") + name +
                             " expected at byte " + std::to_string(in.position() - 2));
  }
  return in.take(head[1]);
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

Bytes encode_hss_spki(ByteView key, SpkiForm form) {
  Bytes bits = {0};  // no unused bits
  append(bits, form == SpkiForm::wrapped ? tagged(kOctetString, key) : Bytes(key.begin(), key.end()));
  Bytes content(kAlgorithm.begin(), kAlgorithm.end());
  append(content, tagged(kBitString, bits));
  return tagged(kSequence, content);
}

Bytes decode_hss_spki(ByteView der) {
  Reader outer(der, "public key (DER)");
  Reader in(expect(outer, kSequence, "SEQUENCE"), "public key (DER)");
  outer.expect_end();
  if (!equal(in.take(std::min(kAlgorithm.size(), in.remaining())), kAlgorithm)) {
    fail(Errc::bad_data, "public key (DER) has another algorithm than id-alg-hss-lms-hashsig");
  }
  ByteView bits = expect(in, kBitString, "BIT STRING");
  in.expect_end();
  if (bits.empty() || bits[0] != 0) fail(Errc::bad_data, "public key (DER): BIT STRING has unused bits");
  bits = bits.subspan(1);
  // An HSS key starts with three zero bytes of L; 0x04 can only be the old OCTET STRING.
  if (!bits.empty() && bits[0] == kOctetString) {
    Reader wrapped(bits, "public key (DER)");
    const ByteView key = expect(wrapped, kOctetString, "OCTET STRING");
    wrapped.expect_end();
    return {key.begin(), key.end()};
  }
  return {bits.begin(), bits.end()};
}

std::string pem_encode(std::string_view label, ByteView der) {
  std::string text;
  for (std::size_t i = 0; i < der.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, der.size() - i);
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? der[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? kBase64[v >> (18 - 6 * k) & 63] : '=';
  }
  std::string out = "-----BEGIN " + std::string(label) + "-----\n";
  for (std::size_t i = 0; i < text.size(); i += 64) out += text.substr(i, 64) + "\n";
  return out + "-----END " + std::string(label) + "-----\n";
}

Bytes pem_decode(std::string_view label, std::string_view text) {
  const std::string begin = "-----BEGIN " + std::string(label) + "-----";
  const std::string end = "-----END " + std::string(label) + "-----";
  const std::size_t from = text.find(begin);
  const std::size_t to = from == text.npos ? from : text.find(end, from);
  if (to == text.npos) fail(Errc::bad_data, "no '" + begin + "' block in the file");
  Bytes out;
  std::uint32_t v = 0;
  unsigned count = 0;
  unsigned pads = 0;
  for (const char c : text.substr(from + begin.size(), to - from - begin.size())) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const std::size_t digit = kBase64.find(c);
    const bool pad = c == '=' && count >= 2;
    if ((digit == kBase64.npos && !pad) || (pads > 0 && !pad)) {
      fail(Errc::bad_data, "PEM block '" + std::string(label) + "' has damaged base64");
    }
    pads += pad ? 1 : 0;
    v = v << 6 | (pad ? 0U : static_cast<std::uint32_t>(digit));
    if (++count == 4) {
      for (unsigned k = 0; k + pads < 3; ++k) out.push_back(static_cast<std::uint8_t>(v >> (16 - 8 * k)));
      count = 0;
      v = 0;
    }
  }
  if (count != 0) fail(Errc::bad_data, "PEM block '" + std::string(label) + "' is cut off");
  return out;
}

}  // namespace coppice
