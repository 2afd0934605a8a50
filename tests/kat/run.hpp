// The run over one vector file: cases are checked, counted, skipped with a reason, and reported.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/kat/case.hpp"
#include "tests/kat/engine.hpp"

namespace coppice::kat {

// Collects what differs in one case.
class Check {
 public:
  void equal(const std::string& what, ByteView got, ByteView expected);
  void equal(const std::string& what, std::uint64_t got, std::uint64_t expected);
  void equal(const std::string& what, const std::string& got, const std::string& expected);
  void that(bool holds, const std::string& problem);
  [[nodiscard]] const std::vector<std::string>& differences() const noexcept {
    return differences_;
  }

 private:
  std::vector<std::string> differences_;
};

struct Counts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};

// What a case needs before it can run.
struct Needs {
  HashId hash = HashId::sha256;
  unsigned height = 0;  // of the largest tree that is grown
};

class Run {
 public:
  // `seen` holds the canonical paths of files whose cases were counted with another file. All
  // references outlive the run.
  Run(const Engine& engine, std::string path, const Json& root, std::vector<std::string>& seen)
      : engine_(engine), path_(std::move(path)), root_(root), seen_(seen) {}

  [[nodiscard]] const Engine& engine() const noexcept { return engine_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Json& root() const noexcept { return root_; }
  [[nodiscard]] std::vector<std::string>& seen() noexcept { return seen_; }

  // Calls check(c, kernel, result) unless the case is skipped, counts it and prints what failed.
  // Errors of malformed cases (Errc::usage) pass through; other errors fail the case.
  void run(const Case& c, const Needs& needs,
           const std::function<void(const HashMany&, Check&)>& check);
  // A line about a case that is worth printing although it passed.
  void note(const Case& c, const std::string& text) const;
  void say(std::string text) { remark_ = std::move(text); }  // ends up in the line of the file

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::string& remark() const noexcept { return remark_; }

 private:
  const Engine& engine_;
  const std::string path_;
  const Json& root_;
  std::vector<std::string>& seen_;
  Counts counts_;
  std::string remark_;
};

[[nodiscard]] Bytes sha256_of(ByteView data);
// "root mismatch", with "level N: " before it where an HSS level is meant.
[[nodiscard]] std::string reason_of(const Verdict& verdict, bool hss);
[[nodiscard]] unsigned tallest(const HssParams& params);

}  // namespace coppice::kat
