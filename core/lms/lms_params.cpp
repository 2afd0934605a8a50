// LM-OTS and LMS parameter sets as rows of data. RFC 8554 sections 4.1 and 5.1, SP 800-208 section 4,
// RFC 9858 section 3.
#include "core/lms/lms_params.hpp"

#include <algorithm>
#include <limits>

namespace coppice {
namespace {

constexpr HashId kSha = HashId::sha256;
constexpr HashId kShake = HashId::shake256;

constexpr std::array<LmOtsParams, 16> kLmOts = {{
    {1, "LMOTS_SHA256_N32_W1", kSha, 32, 1, 265, 7},
    {2, "LMOTS_SHA256_N32_W2", kSha, 32, 2, 133, 6},
    {3, "LMOTS_SHA256_N32_W4", kSha, 32, 4, 67, 4},
    {4, "LMOTS_SHA256_N32_W8", kSha, 32, 8, 34, 0},
    {5, "LMOTS_SHA256_N24_W1", kSha, 24, 1, 200, 8},
    {6, "LMOTS_SHA256_N24_W2", kSha, 24, 2, 101, 6},
    {7, "LMOTS_SHA256_N24_W4", kSha, 24, 4, 51, 4},
    {8, "LMOTS_SHA256_N24_W8", kSha, 24, 8, 26, 0},
    {9, "LMOTS_SHAKE_N32_W1", kShake, 32, 1, 265, 7},
    {10, "LMOTS_SHAKE_N32_W2", kShake, 32, 2, 133, 6},
    {11, "LMOTS_SHAKE_N32_W4", kShake, 32, 4, 67, 4},
    {12, "LMOTS_SHAKE_N32_W8", kShake, 32, 8, 34, 0},
    {13, "LMOTS_SHAKE_N24_W1", kShake, 24, 1, 200, 8},
    {14, "LMOTS_SHAKE_N24_W2", kShake, 24, 2, 101, 6},
    {15, "LMOTS_SHAKE_N24_W4", kShake, 24, 4, 51, 4},
    {16, "LMOTS_SHAKE_N24_W8", kShake, 24, 8, 26, 0},
}};

constexpr std::array<LmsParams, 20> kLms = {{
    {5, "LMS_SHA256_M32_H5", kSha, 32, 5},     {6, "LMS_SHA256_M32_H10", kSha, 32, 10},
    {7, "LMS_SHA256_M32_H15", kSha, 32, 15},   {8, "LMS_SHA256_M32_H20", kSha, 32, 20},
    {9, "LMS_SHA256_M32_H25", kSha, 32, 25},   {10, "LMS_SHA256_M24_H5", kSha, 24, 5},
    {11, "LMS_SHA256_M24_H10", kSha, 24, 10},  {12, "LMS_SHA256_M24_H15", kSha, 24, 15},
    {13, "LMS_SHA256_M24_H20", kSha, 24, 20},  {14, "LMS_SHA256_M24_H25", kSha, 24, 25},
    {15, "LMS_SHAKE_M32_H5", kShake, 32, 5},   {16, "LMS_SHAKE_M32_H10", kShake, 32, 10},
    {17, "LMS_SHAKE_M32_H15", kShake, 32, 15}, {18, "LMS_SHAKE_M32_H20", kShake, 32, 20},
    {19, "LMS_SHAKE_M32_H25", kShake, 32, 25}, {20, "LMS_SHAKE_M24_H5", kShake, 24, 5},
    {21, "LMS_SHAKE_M24_H10", kShake, 24, 10}, {22, "LMS_SHAKE_M24_H15", kShake, 24, 15},
    {23, "LMS_SHAKE_M24_H20", kShake, 24, 20}, {24, "LMS_SHAKE_M24_H25", kShake, 24, 25},
}};

// RFC 8554 Appendix B: u, v, p and ls follow from n and w.
constexpr bool derived_values_hold() {
  for (const LmOtsParams& o : kLmOts) {
    const unsigned u = (8 * o.n + o.w - 1) / o.w;
    unsigned bits = 0;
    for (unsigned most = o.steps() * u; most != 0; most >>= 1) ++bits;
    const unsigned v = (bits + o.w - 1) / o.w;
    if (o.p != u + v || o.ls != 16 - v * o.w) return false;
  }
  return true;
}
static_assert(derived_values_hold());

struct ShortHash {
  std::string_view name;
  HashId hash;
  unsigned n;
};
constexpr std::array<ShortHash, 4> kShortHashes = {{{"sha256", kSha, 32},
                                                    {"sha256-192", kSha, 24},
                                                    {"shake256", kShake, 32},
                                                    {"shake256-192", kShake, 24}}};

unsigned parse_number(std::string_view text, std::string_view whole) {
  unsigned v = 0;
  if (text.empty() || text.size() > 3) v = 1000;
  for (const char c : text) v = (c >= '0' && c <= '9' && v < 1000) ? v * 10 + unsigned(c - '0') : 1000;
  if (v >= 1000) {
    fail(Errc::usage, "parameter set '" + std::string(whole) +
                          "': expected HEIGHT/WINTERNITZ such as 20/8, or IANA names such as "
                          "LMS_SHA256_M32_H20/LMOTS_SHA256_N32_W8 (see 'coppice list-params')");
  }
  return v;
}

LmsPair parse_level(std::string_view text, std::string_view hash) {
  const std::string quoted = "parameter set '" + std::string(text) + "'";
  const std::size_t slash = text.find('/');
  const std::string_view left = text.substr(0, slash);
  const std::string_view right = slash == text.npos ? std::string_view{} : text.substr(slash + 1);
  LmsPair pair;
  if (left.starts_with("LMS_") || right.starts_with("LMOTS_")) {
    const auto lms = std::ranges::find(kLms, left, &LmsParams::name);
    const auto ots = std::ranges::find(kLmOts, right, &LmOtsParams::name);
    if (lms == kLms.end()) {
      fail(Errc::usage, quoted + ": unknown LMS type '" + std::string(left) +
                            "'; 'coppice list-params' prints the names");
    }
    if (ots == kLmOts.end()) {
      fail(Errc::usage, quoted + ": unknown LM-OTS type '" + std::string(right) +
                            "'; 'coppice list-params' prints the names");
    }
    pair = {&*lms, &*ots};
  } else {
    const unsigned h = parse_number(left, text);
    const unsigned w = parse_number(right, text);
    const auto name = std::ranges::find(kShortHashes, hash, &ShortHash::name);
    if (name == kShortHashes.end()) {
      fail(Errc::usage, "--hash '" + std::string(hash) +
                            "' is unknown; use sha256, sha256-192, shake256 or shake256-192");
    }
    for (const LmsParams& lms : kLms) {
      if (lms.h == h && lms.hash == name->hash && lms.m == name->n) pair.lms = &lms;
    }
    for (const LmOtsParams& ots : kLmOts) {
      if (ots.w == w && ots.hash == name->hash && ots.n == name->n) pair.ots = &ots;
    }
    if (pair.lms == nullptr) fail(Errc::usage, quoted + ": height must be 5, 10, 15, 20 or 25");
    if (pair.ots == nullptr) fail(Errc::usage, quoted + ": Winternitz width must be 1, 2, 4 or 8");
  }
  std::string problem;
  if (!make_pair(pair.lms->type, pair.ots->type, pair, problem)) {
    fail(Errc::usage, quoted + ": " + problem);
  }
  return pair;
}

}  // namespace

std::span<const LmOtsParams> all_lm_ots_params() noexcept { return kLmOts; }
std::span<const LmsParams> all_lms_params() noexcept { return kLms; }

const LmOtsParams* find_lm_ots(std::uint32_t type) noexcept {
  const auto it = std::ranges::find(kLmOts, type, &LmOtsParams::type);
  return it == kLmOts.end() ? nullptr : &*it;
}

const LmsParams* find_lms(std::uint32_t type) noexcept {
  const auto it = std::ranges::find(kLms, type, &LmsParams::type);
  return it == kLms.end() ? nullptr : &*it;
}

bool make_pair(std::uint32_t lms_type, std::uint32_t ots_type, LmsPair& out, std::string& problem) {
  const LmsParams* lms = find_lms(lms_type);
  const LmOtsParams* ots = find_lm_ots(ots_type);
  if (lms == nullptr) {
    problem = "unknown LMS type " + std::to_string(lms_type);
    return false;
  }
  if (ots == nullptr) {
    problem = "unknown LM-OTS type " + std::to_string(ots_type);
    return false;
  }
  if (lms->hash != ots->hash || lms->m != ots->n) {
    problem = std::string(lms->name) + " and " + std::string(ots->name) +
              " have different hashes; both must use the same hash and length";
    return false;
  }
  out = {lms, ots};
  return true;
}

std::string LmsPair::name() const { return std::string(lms->name) + "/" + std::string(ots->name); }

unsigned HssParams::total_height() const noexcept {
  unsigned total = 0;
  for (const LmsPair& level : levels) total += level.lms->h;
  return total;
}

std::uint64_t HssParams::capacity() const noexcept {
  const unsigned total = total_height();
  return total < 64 ? std::uint64_t{1} << total : std::numeric_limits<std::uint64_t>::max();
}

std::size_t HssParams::signature_bytes() const noexcept {
  std::size_t total = 4;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    total += levels[i].signature_bytes();
    if (i + 1 < levels.size()) total += levels[i + 1].public_key_bytes();
  }
  return total;
}

std::uint64_t HssParams::tree_at(std::size_t level, std::uint64_t index) const noexcept {
  unsigned below = 0;
  for (std::size_t i = level; i < levels.size(); ++i) below += levels[i].lms->h;
  return below < 64 ? index >> below : 0;
}

std::uint64_t HssParams::leaf_at(std::size_t level, std::uint64_t index) const noexcept {
  return tree_at(level + 1, index) & ((std::uint64_t{1} << levels[level].lms->h) - 1);
}

std::string HssParams::name() const {
  std::string all;
  for (const LmsPair& level : levels) {
    if (!all.empty()) all += ',';
    all += level.name();
  }
  return all;
}

HssParams parse_hss_params(std::string_view text, std::string_view hash) {
  HssParams params;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    params.levels.push_back(parse_level(text.substr(at, comma - at), hash));
    at = comma + 1;
  }
  if (params.levels.size() > kMaxHssLevels) {
    fail(Errc::usage, "parameter set has " + std::to_string(params.levels.size()) +
                          " levels; HSS allows at most 8");
  }
  for (const LmsPair& level : params.levels) {
    if (level.lms->hash != params.levels.front().lms->hash ||
        level.lms->m != params.levels.front().lms->m) {
      fail(Errc::usage, "parameter set '" + std::string(text) +
                            "' mixes hashes; all levels must use the same hash and length");
    }
  }
  return params;
}

}  // namespace coppice
