// One case of a vector file: named fields, whose absence is an error that names file and case.
#include "tests/kat/case.hpp"

#include <algorithm>
#include <limits>

#include "core/encode/hex.hpp"

namespace coppice::kat {

std::string Case::where(const char* name) const {
  return file_ + ": case " + id_ + ": field '" + name + "'";
}

void Case::malformed(const std::string& problem) const {
  fail(Errc::usage, file_ + ": case " + id_ + ": " + problem);
}

bool Case::has(const char* name) const {
  return fields_.is_object() && fields_.contains(name) && !fields_.at(name).is_null();
}

const Json& Case::field(const char* name) const {
  if (!has(name)) fail(Errc::usage, where(name) + " is missing");
  return fields_.at(name);
}

std::string Case::text(const char* name) const {
  const Json& value = field(name);
  if (!value.is_string()) fail(Errc::usage, where(name) + " is not text");
  return value.get<std::string>();
}

Bytes Case::hex(const char* name) const { return from_hex(text(name), where(name)); }

std::uint64_t Case::number(const char* name) const {
  const Json& value = field(name);
  if (!value.is_number_unsigned()) fail(Errc::usage, where(name) + " is not a number from 0 up");
  return value.get<std::uint64_t>();
}

bool Case::flag(const char* name) const {
  const Json& value = field(name);
  if (!value.is_boolean()) fail(Errc::usage, where(name) + " is neither true nor false");
  return value.get<bool>();
}

const Json& Case::list(const char* name) const {
  const Json& value = field(name);
  if (!value.is_array()) fail(Errc::usage, where(name) + " is not a list");
  return value;
}

const Json& Case::object(const char* name) const {
  const Json& value = field(name);
  if (!value.is_object()) fail(Errc::usage, where(name) + " is not an object");
  return value;
}

LmsTreeSecret Case::secret(const char* seed, const char* identifier) const {
  const Bytes s = hex(seed);
  const Bytes id = hex(identifier);
  if (s.size() != 24 && s.size() != 32)
    fail(Errc::usage, where(seed) + " has neither 24 nor 32 bytes");
  if (id.size() != kIdentifierBytes) fail(Errc::usage, where(identifier) + " has not 16 bytes");
  LmsTreeSecret tree;
  std::ranges::copy(s, tree.seed.writable().begin());
  tree.seed_bytes = s.size();
  std::ranges::copy(id, tree.identifier.begin());
  return tree;
}

LmsPair Case::pair(std::uint64_t lms_type, std::uint64_t ots_type) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  LmsPair pair;
  std::string problem = "typecode above 32 bits";
  if (lms_type > kMost || ots_type > kMost ||
      !make_pair(static_cast<std::uint32_t>(lms_type), static_cast<std::uint32_t>(ots_type), pair,
                 problem)) {
    malformed(problem);
  }
  return pair;
}

std::string case_id(const Json& fields, std::size_t index) {
  if (fields.is_object() && fields.contains("id") && fields.at("id").is_string()) {
    return fields.at("id").get<std::string>();
  }
  std::string place = "#";
  place += std::to_string(index + 1);
  return place;
}

}  // namespace coppice::kat
