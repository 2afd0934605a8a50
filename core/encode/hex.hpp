// Hexadecimal text.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace coppice {

[[nodiscard]] std::string to_hex(ByteView data);  // lower case
// `what` names the input in the message: Errc::usage for an odd length or another character.
[[nodiscard]] Bytes from_hex(std::string_view text, std::string_view what);

}  // namespace coppice
