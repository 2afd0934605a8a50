// The run over one vector file: cases are checked, counted, skipped with a reason, and reported.
#include "tests/kat/run.hpp"

#include <algorithm>
#include <cstdio>

#include "core/encode/hex.hpp"
#include "core/hash/sha256.hpp"

namespace coppice::kat {
namespace {

void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

// Up to eight bytes from `at`.
std::string excerpt(ByteView data, std::size_t at) {
  if (at >= data.size()) return "nothing";
  const ByteView part = data.subspan(at, std::min<std::size_t>(8, data.size() - at));
  return to_hex(part) + (at + part.size() < data.size() ? ".." : "");
}

}  // namespace

void Check::equal(const std::string& what, ByteView got, ByteView expected) {
  if (got.size() != expected.size()) {
    differences_.push_back(what + " has " + std::to_string(got.size()) + " bytes instead of " +
                           std::to_string(expected.size()));
    return;
  }
  const auto [g, e] = std::ranges::mismatch(got, expected);
  if (g == got.end()) return;
  const auto at = static_cast<std::size_t>(g - got.begin());
  differences_.push_back(what + " differs at byte " + std::to_string(at) + " of " +
                         std::to_string(got.size()) + ": " + excerpt(got, at) + " instead of " +
                         excerpt(expected, at));
}

void Check::equal(const std::string& what, std::uint64_t got, std::uint64_t expected) {
  that(got == expected,
       what + " is " + std::to_string(got) + " instead of " + std::to_string(expected));
}

void Check::equal(const std::string& what, const std::string& got, const std::string& expected) {
  that(got == expected, what + " is '" + got + "' instead of '" + expected + "'");
}

void Check::that(bool holds, const std::string& problem) {
  if (!holds) differences_.push_back(problem);
}

void Run::run(const Case& c, const Needs& needs,
              const std::function<void(const HashMany&, Check&)>& check) {
  const std::string head = path_ + ": case " + c.id();
  const HashMany* kernel = engine_.kernel(needs.hash);
  if (needs.height > engine_.max_height()) {
    ++counts_.skipped;
    print(head + " skipped: height " + std::to_string(needs.height) + " is above --max-height " +
          std::to_string(engine_.max_height()) + "; run it with: coppice-kat --max-height " +
          std::to_string(needs.height) + " " + path_);
    return;
  }
  if (kernel == nullptr) {
    ++counts_.skipped;
    print(head + " skipped: " + std::string(hash_name(needs.hash)) + " has no kernel '" +
          engine_.kernel_name() + "' here");
    return;
  }
  Check result;
  try {
    check(*kernel, result);
  } catch (const Error& e) {
    if (e.code() == Errc::usage) throw;
    result.that(false, e.what());
  }
  for (const std::string& difference : result.differences()) print(head + " failed: " + difference);
  ++(result.differences().empty() ? counts_.passed : counts_.failed);
}

void Run::note(const Case& c, const std::string& text) const {
  print(path_ + ": case " + c.id() + " " + text);
}

Bytes sha256_of(ByteView data) {
  Bytes digest(32);
  Sha256 h;
  h.update(data);
  h.final(digest);
  return digest;
}

std::string reason_of(const Verdict& verdict, bool hss) {
  const std::string reason(verdict.reason());
  const bool of_a_level = hss && !verdict.valid() && verdict.rejection != Rejection::levels;
  return of_a_level ? "level " + std::to_string(verdict.level) + ": " + reason : reason;
}

unsigned tallest(const HssParams& params) {
  unsigned most = 0;
  for (const LmsPair& level : params.levels) most = std::max(most, level.lms->h);
  return most;
}

}  // namespace coppice::kat
