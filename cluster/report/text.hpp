// Results as text for people: aligned "name value" lines.
#pragma once

#include <string>

#include "cluster/job/spec.hpp"

namespace coppice {

[[nodiscard]] std::string to_text(const JobResult& result);
[[nodiscard]] std::string to_text(const DryRun& result);

[[nodiscard]] std::string human_bytes(std::uint64_t bytes);      // "1.5 MiB"
[[nodiscard]] std::string human_seconds(double seconds);         // "2 h 05 min", "3.2 s", "41 ms"
[[nodiscard]] std::string human_count(std::uint64_t n);          // "1 048 576"
// Signatures a key can make; a capacity of 2^64 - 1 stands for more than that.
[[nodiscard]] std::string human_capacity(const HssParams& params);

// One line of the aligned form.
[[nodiscard]] std::string text_line(const std::string& name, const std::string& value);

}  // namespace coppice
