// JobSpec, RankLayout and results to and from Protobuf: the only place that knows both.
#include "cluster/job/wire.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cluster/mpi/session.hpp"
#include "cluster/report/json.hpp"
#include "core/base/checked_cast.hpp"
#include "core/base/version.hpp"
#include "core/encode/hex.hpp"
#include "core/lms/lms_cost.hpp"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace coppice {
namespace {

Bytes serialise(const google::protobuf::MessageLite& message) {
  Bytes out(message.ByteSizeLong());
  if (!message.SerializeToArray(out.data(), checked_cast<int>(out.size()))) {
    fail(Errc::internal, "a message could not be serialised");
  }
  return out;
}

template <class Message>
Message parse(ByteView wire, const char* what) {
  Message message;
  if (!message.ParseFromArray(wire.data(), checked_cast<int>(wire.size()))) {
    fail(Errc::internal, std::string(what) + " between ranks is damaged");
  }
  return message;
}

template <std::size_t N>
std::array<std::uint8_t, N> fixed(const std::string& text, const char* what) {
  if (text.size() != N) fail(Errc::internal, std::string(what) + " has a wrong length");
  std::array<std::uint8_t, N> out{};
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

std::string text(ByteView data) { return {data.begin(), data.end()}; }

void fill(const RankLayout& from, v1::RankLayout& to) {
  to.set_rank(from.rank);
  to.set_host(from.host);
  for (const unsigned cpu : from.cpus) to.add_cpus(cpu);
  to.set_threads(from.threads);
  to.set_kernel(from.kernel);
  to.set_program_version(from.program_version);
  to.set_peak_memory_bytes(from.peak_memory_bytes);
  to.set_compute_seconds(from.compute_seconds);
  to.set_units(from.units);
  to.set_busy_seconds(from.busy_seconds);
}

}  // namespace

Bytes encode(const JobSpec& spec) {
  v1::JobSpec m;
  m.set_schema_version(kSchemaVersion);
  m.set_program_version(spec.program_version);
  m.set_params(spec.params.name());
  m.set_key_id(text(spec.key_id));
  m.set_identifier(text(spec.identifier));
  m.set_seed_bytes(spec.seed_bytes);
  m.set_cache_depth(spec.cache_depth);
  m.set_unit_height(spec.unit_height);
  m.set_threads(spec.threads);
  m.set_kernel(spec.kernel);
  m.set_watchdog_ms(spec.watchdog_ms);
  return serialise(m);
}

JobSpec decode_job_spec(ByteView wire) {
  const auto m = parse<v1::JobSpec>(wire, "the job description");
  if (m.schema_version() != kSchemaVersion) {
    fail(Errc::internal, "the job description has version " + std::to_string(m.schema_version()) +
                             "; all ranks must run the same program");
  }
  JobSpec spec;
  spec.program_version = m.program_version();
  spec.params = parse_hss_params(m.params());
  spec.key_id = fixed<std::tuple_size_v<KeyId>>(m.key_id(), "key id");
  spec.identifier = fixed<kIdentifierBytes>(m.identifier(), "identifier");
  spec.seed_bytes = m.seed_bytes();
  spec.cache_depth = m.cache_depth();
  spec.unit_height = m.unit_height();
  spec.threads = m.threads();
  spec.kernel = m.kernel();
  spec.watchdog_ms = m.watchdog_ms();
  return spec;
}

Bytes encode(const RankLayout& layout) {
  v1::RankLayout m;
  fill(layout, m);
  return serialise(m);
}

RankLayout decode_rank_layout(ByteView wire) {
  const auto m = parse<v1::RankLayout>(wire, "a rank's layout");
  RankLayout layout;
  layout.rank = m.rank();
  layout.host = m.host();
  layout.cpus.assign(m.cpus().begin(), m.cpus().end());
  layout.threads = m.threads();
  layout.kernel = m.kernel();
  layout.program_version = m.program_version();
  layout.peak_memory_bytes = m.peak_memory_bytes();
  layout.compute_seconds = m.compute_seconds();
  layout.units = m.units();
  layout.busy_seconds = m.busy_seconds();
  return layout;
}

std::string to_json(const JobResult& r) {
  const LmsPair& top = r.params.levels.front();
  v1::KeygenResult m;
  m.set_schema_version(kSchemaVersion);
  m.set_program_version(kVersion);
  m.set_mpi_library(mpi_library());
  m.set_params(r.params.name());
  m.set_public_key(to_hex(r.public_key.encode()));
  m.set_key_id(to_hex(r.key_id));
  m.mutable_files()->set_key(r.files.key.string());
  m.mutable_files()->set_pub(r.files.pub.string());
  m.mutable_files()->set_cache(r.files.cache.string());
  m.mutable_files()->set_state(r.files.state.string());
  m.set_insecure_seed(r.insecure_seed);
  m.set_child_seeds(r.child_seeds == ChildSeeds::derived ? "derived" : "independent");
  m.set_already_complete(r.already_complete);
  m.set_signatures(r.params.capacity());
  m.set_public_key_bytes(r.params.public_key_bytes());
  m.set_signature_bytes(r.params.signature_bytes());
  m.set_cache_depth(r.cache_depth);
  m.set_cache_bytes(((std::uint64_t{2} << r.cache_depth) - 1) * top.lms->m);
  std::set<std::string> hosts;
  std::uint32_t threads = 0;
  std::uint64_t units = 0;
  for (const RankLayout& rank : r.layout) {
    hosts.insert(rank.host);
    threads += rank.threads;
    units += rank.units;
    fill(rank, *m.add_layout());
  }
  m.set_hosts(static_cast<std::uint32_t>(hosts.size()));
  m.set_ranks(static_cast<std::uint32_t>(r.layout.size()));
  m.set_threads_total(threads);
  m.set_unit_height(r.unit_height);
  m.set_units(units);
  m.set_units_resumed(r.units_resumed);
  if (const char* job = std::getenv("SLURM_JOB_ID")) m.set_job(job);
  const std::uint64_t leaves = std::uint64_t{1} << top.lms->h;
  m.set_leaves(leaves);
  m.set_hash_calls(tree_cost(top));
  m.set_compute_seconds(r.compute_seconds);
  m.set_total_seconds(r.total_seconds);
  if (r.compute_seconds > 0) {
    const double share = r.share_computed();
    m.set_leaves_per_second(share * static_cast<double>(leaves) / r.compute_seconds);
    if (share > 0) {
      m.set_nanoseconds_per_hash(r.compute_seconds * 1e9 * threads /
                                 (share * static_cast<double>(tree_cost(top))));
    }
  }
  m.set_subtrees_recomputed(r.subtrees_recomputed);
  m.set_signature_checked(r.signature_checked);
  return json(m);
}

std::string to_json(const DryRun& r) {
  const LmsPair& top = r.params.levels.front();
  v1::DryRunResult m;
  m.set_schema_version(kSchemaVersion);
  m.set_params(r.params.name());
  m.set_leaves(std::uint64_t{1} << top.lms->h);
  m.set_hash_calls(tree_cost(top));
  m.set_estimated_seconds(r.estimated_seconds);
  m.set_ranks(r.ranks);
  m.set_threads_total(r.threads_total);
  m.set_kernel(r.kernel);
  m.set_signatures(r.params.capacity());
  m.set_public_key_bytes(r.params.public_key_bytes());
  m.set_signature_bytes(r.params.signature_bytes());
  m.set_cache_depth(r.cache_depth);
  m.set_cache_bytes(((std::uint64_t{2} << r.cache_depth) - 1) * top.lms->m);
  m.set_memory_bytes_per_rank(r.memory_bytes_per_rank);
  m.set_unit_height(r.unit_height);
  m.set_units(std::uint64_t{1} << (top.lms->h - r.unit_height));
  return json(m);
}

}  // namespace coppice
