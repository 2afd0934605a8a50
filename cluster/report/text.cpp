// Results as text for people: aligned "name value" lines.
#include "cluster/report/text.hpp"

#include <fmt/format.h>

#include <set>

#include "core/lms/lms_cost.hpp"

namespace coppice {
namespace {

std::string hash_word(const LmsPair& pair) {
  return pair.lms->hash == HashId::sha256 ? "SHA-256 compressions" : "Keccak permutations";
}

std::uint64_t cache_bytes(const HssParams& params, unsigned depth) {
  return ((std::uint64_t{2} << depth) - 1) * params.levels.front().lms->m;
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_seconds(double s) {
  if (s < 0.001) return fmt::format("{:.0f} us", s * 1e6);
  if (s < 1) return fmt::format("{:.0f} ms", s * 1e3);
  if (s < 120) return fmt::format("{:.1f} s", s);
  const auto minutes = static_cast<std::uint64_t>(s / 60 + 0.5);
  if (minutes < 120) return fmt::format("{} min", minutes);
  if (minutes < 2880) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{:.1f} days", s / 86400);
}

std::string human_count(std::uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ' ';
    out += digits[i];
  }
  return out;
}

std::string human_capacity(const HssParams& params) {
  if (params.total_height() >= 64) return "more than 2^64 - 2 (the index is 64 bits wide)";
  return fmt::format("{} (2^{})", human_count(params.capacity()), params.total_height());
}

std::string text_line(const std::string& name, const std::string& value) {
  return fmt::format("{:<12} {}\n", name, value);
}

std::string to_text(const JobResult& r) {
  const LmsPair& top = r.params.levels.front();
  std::string out;
  out += text_line("parameters", r.params.name());
  out += text_line("key", r.files.key.string());
  out += text_line("public key", r.files.pub.string());
  out += text_line("cache", fmt::format("{} ({} rows, {})", r.files.cache.string(), r.cache_depth,
                                        human_bytes(cache_bytes(r.params, r.cache_depth))));
  out += text_line("state", r.files.state.string());
  out += text_line("signatures", human_capacity(r.params));
  if (r.insecure_seed) out += text_line("WARNING", "made from a given seed; for known-answer runs only");
  if (r.already_complete) {
    out += text_line("note", "the key was complete already; nothing was done");
    return out;
  }
  std::set<std::string> hosts;
  unsigned threads = 0;
  std::set<std::string> kernels;
  for (const RankLayout& rank : r.layout) {
    hosts.insert(rank.host);
    kernels.insert(rank.kernel);
    threads += rank.threads;
  }
  std::string kernel_list;
  for (const std::string& kernel : kernels) kernel_list += (kernel_list.empty() ? "" : ", ") + kernel;
  out += text_line("layout", fmt::format("{} host(s), {} rank(s), {} thread(s), kernel {}",
                                         hosts.size(), r.layout.size(), threads, kernel_list));
  if (r.units_resumed > 0) {
    out += text_line("resumed", fmt::format("{:.1f} % of the tree was there already",
                                            100 * (1 - r.share_computed())));
  }
  if (r.share_computed() == 0) {
    out += text_line("time", human_seconds(r.total_seconds) + " in all, nothing was left to grow");
    out += text_line("VERIFY", fmt::format("root ok, {} subtree(s) grown again, test signature ok",
                                           r.subtrees_recomputed));
    return out;
  }
  const double leaves = r.share_computed() * static_cast<double>(std::uint64_t{1} << top.lms->h);
  const double hashes = r.share_computed() * static_cast<double>(tree_cost(top));
  out += text_line("time", fmt::format("{} in all, {} for the tree: {:.0f} leaves/s, {:.2f} ns per "
                                       "hash and thread ({} {}), threads {:.1f} % busy",
                                       human_seconds(r.total_seconds), human_seconds(r.compute_seconds),
                                       leaves / r.compute_seconds,
                                       r.compute_seconds * 1e9 * threads / hashes,
                                       human_count(static_cast<std::uint64_t>(hashes)),
                                       hash_word(top), 100 * r.share_busy()));
  out += text_line("VERIFY", fmt::format("root ok, {} subtree(s) grown again, test signature ok",
                                         r.subtrees_recomputed));
  return out;
}

std::string to_text(const DryRun& r) {
  const LmsPair& top = r.params.levels.front();
  std::string out;
  out += text_line("parameters", r.params.name());
  out += text_line("work", fmt::format("{} leaves, {} {}", human_count(std::uint64_t{1} << top.lms->h),
                                       human_count(tree_cost(top)), hash_word(top)));
  out += text_line("time", fmt::format("about {} on {} rank(s), {} thread(s), kernel {}",
                                       human_seconds(r.estimated_seconds), r.ranks, r.threads_total,
                                       r.kernel));
  out += text_line("units", fmt::format("{} of {} leaves",
                                        human_count(std::uint64_t{1} << (top.lms->h - r.unit_height)),
                                        human_count(std::uint64_t{1} << r.unit_height)));
  out += text_line("memory", "about " + human_bytes(r.memory_bytes_per_rank) + " per rank");
  out += text_line("signatures", human_capacity(r.params));
  out += text_line("sizes", fmt::format("public key {} bytes, signature {} bytes, cache {} ({} rows)",
                                        r.params.public_key_bytes(), r.params.signature_bytes(),
                                        human_bytes(cache_bytes(r.params, r.cache_depth)),
                                        r.cache_depth));
  out += text_line("note", "nothing was written");
  return out;
}

}  // namespace coppice
