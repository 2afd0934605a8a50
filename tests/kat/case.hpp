// One case of a vector file: named fields, whose absence is an error that names file and case.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/bytes.hpp"
#include "core/lms/lm_ots.hpp"

namespace coppice::kat {

using Json = nlohmann::json;

class Case {
 public:
  // `fields` outlives the case. `id` as printed: "kg-001", "tcId 3", "signature 2 of hs-a".
  Case(const Json& fields, std::string file, std::string id)
      : fields_(fields), file_(std::move(file)), id_(std::move(id)) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  // All of these throw Errc::usage (exit code 2) with file, case and field when the field is
  // missing or of another type.
  [[nodiscard]] bool has(const char* name) const;  // present and not null
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] Bytes hex(const char* name) const;
  [[nodiscard]] std::uint64_t number(const char* name) const;
  [[nodiscard]] bool flag(const char* name) const;
  [[nodiscard]] const Json& list(const char* name) const;
  [[nodiscard]] const Json& object(const char* name) const;
  [[noreturn]] void malformed(const std::string& problem) const;

  // A secret from two hexadecimal fields; a seed of 24 or 32 bytes, 16 bytes of identifier.
  [[nodiscard]] LmsTreeSecret secret(const char* seed, const char* identifier) const;
  // The pair of two typecodes; malformed() when there is none.
  [[nodiscard]] LmsPair pair(std::uint64_t lms_type, std::uint64_t ots_type) const;

 private:
  [[nodiscard]] const Json& field(const char* name) const;
  [[nodiscard]] std::string where(const char* name) const;

  const Json& fields_;
  std::string file_;
  std::string id_;
};

// Name of case number `index` of a list: its "id" or its place.
[[nodiscard]] std::string case_id(const Json& fields, std::size_t index);

}  // namespace coppice::kat
