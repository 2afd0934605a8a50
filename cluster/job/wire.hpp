// JobSpec, RankLayout and results to and from Protobuf: the only place that knows both.
#pragma once

#include <string>

#include "cluster/job/spec.hpp"

namespace coppice {

[[nodiscard]] Bytes encode(const JobSpec& spec);
[[nodiscard]] JobSpec decode_job_spec(ByteView wire);  // Errc::internal when damaged or of another version
[[nodiscard]] Bytes encode(const RankLayout& layout);
[[nodiscard]] RankLayout decode_rank_layout(ByteView wire);

// One JSON object with Protobuf's mapping (64-bit integers are strings), field names as in proto/.
[[nodiscard]] std::string to_json(const JobResult& result);
[[nodiscard]] std::string to_json(const DryRun& result);

inline constexpr unsigned kSchemaVersion = 1;

}  // namespace coppice
