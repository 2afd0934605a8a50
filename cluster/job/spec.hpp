// The one in-memory truth about a job; wire.cpp is its only translator.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/secret.hpp"
#include "core/lms/lms_params.hpp"
#include "node/key_file.hpp"
#include "node/progress.hpp"

namespace coppice {

// What the user asked for; known to rank 0 alone.
struct KeygenRequest {
  HssParams params;
  std::filesystem::path folder;
  std::string name;
  PublicForm form = PublicForm::raw;
  ChildSeeds child_seeds = ChildSeeds::derived;
  std::optional<unsigned> cache_depth;  // default_cache_depth() when not given
  std::optional<LmsTreeSecret> insecure;  // known-answer run: the given seed and identifier
  bool resume = false;
  bool force = false;
  unsigned threads = 0;  // per rank; 0: from the mask
  std::string kernel;    // forced, or empty
  std::chrono::milliseconds watchdog{4000};  // silence of a rank that ends the job; 0: never
  ProgressMode progress = ProgressMode::automatic;
  bool stderr_is_terminal = false;
};

// What every rank needs to know, besides the seed.
struct JobSpec {
  std::string program_version;
  HssParams params;
  KeyId key_id{};
  std::array<std::uint8_t, kIdentifierBytes> identifier{};
  std::uint32_t seed_bytes = 0;
  std::uint32_t cache_depth = 0;
  std::uint32_t unit_height = 0;
  std::uint32_t threads = 0;
  std::string kernel;
  std::uint32_t watchdog_ms = 0;
  bool operator==(const JobSpec&) const = default;
};

// One rank as rank 0 sees it.
struct RankLayout {
  std::uint32_t rank = 0;
  std::string host;
  std::vector<unsigned> cpus;
  std::uint32_t threads = 0;
  std::string kernel;
  std::string program_version;
  std::uint64_t peak_memory_bytes = 0;
  double compute_seconds = 0;
  std::uint64_t units = 0;
  double busy_seconds = 0;  // of compute_seconds, growing units; the mean over the threads
  bool operator==(const RankLayout&) const = default;
};

// What rank 0 knows at the end.
struct JobResult {
  HssParams params;
  KeyPaths files;
  HssPublicKey public_key;
  KeyId key_id{};
  bool insecure_seed = false;
  ChildSeeds child_seeds = ChildSeeds::derived;
  bool already_complete = false;
  std::uint64_t units_resumed = 0;  // taken from NAME.progress
  unsigned cache_depth = 0;
  unsigned unit_height = 0;
  std::vector<RankLayout> layout;
  double compute_seconds = 0;
  double total_seconds = 0;
  unsigned subtrees_recomputed = 0;
  bool signature_checked = false;

  // Of the tree, by this run and not by the one that it resumed.
  [[nodiscard]] double share_computed() const noexcept {
    std::uint64_t units = 0;
    for (const RankLayout& rank : layout) units += rank.units;
    const std::uint64_t all = units + units_resumed;
    return all == 0 ? 0 : static_cast<double>(units) / static_cast<double>(all);
  }
  // Of the threads' time between the first unit and the last, 0 to 1; 1 if nothing was grown.
  [[nodiscard]] double share_busy() const noexcept {
    double busy = 0;
    double all = 0;
    for (const RankLayout& rank : layout) {
      busy += rank.threads * rank.busy_seconds;
      all += rank.threads * rank.compute_seconds;
    }
    return all == 0 ? 1 : busy / all;
  }
};

// Time, memory and sizes of a job before it is started.
struct DryRun {
  HssParams params;
  unsigned ranks = 1;
  unsigned threads_total = 1;
  std::string kernel;
  unsigned cache_depth = 0;
  unsigned unit_height = 0;
  double estimated_seconds = 0;
  std::uint64_t memory_bytes_per_rank = 0;
};

}  // namespace coppice
