// Progress lines: when they come, what they say, and what they never contain.
#include "node/progress.hpp"

#include <algorithm>
#include <vector>

#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// What a Progress writes when it is updated every 100 ms over `duration`, at a steady rate.
struct Written {
  std::vector<std::string> texts;
  std::vector<std::chrono::milliseconds> at;
};

Written run(ProgressMode mode, bool terminal, std::chrono::milliseconds duration,
            std::uint64_t total = 1'000'000, std::uint64_t before = 0) {
  Written out;
  std::chrono::milliseconds now{0};
  {
    Progress progress("keygen LMS_SHA256_M32_H20", total, mode, terminal,
                      [&](const std::string& text) {
                        out.texts.push_back(text);
                        out.at.push_back(now);
                      });
    const Clock::time_point start = Clock::now();
    for (; now <= duration; now += 100ms) {
      const auto share = static_cast<double>(now.count()) / static_cast<double>(duration.count());
      progress.update_at(
          before + static_cast<std::uint64_t>(share * static_cast<double>(total - before)),
          start + now);
    }
  }
  return out;
}

TEST(Progress, LogFilesGetFewPlainLines) {
  const Written w = run(ProgressMode::automatic, false, 100s);
  ASSERT_EQ(w.texts.size(), 4U);
  EXPECT_LE(w.at[0], 2s);
  for (std::size_t i = 1; i < w.at.size(); ++i) EXPECT_GE(w.at[i] - w.at[i - 1], 30s);
  for (const std::string& text : w.texts) {
    EXPECT_EQ(text.find('\r'), text.npos);
    EXPECT_EQ(text.find('\x1b'), text.npos);
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
    EXPECT_EQ(text.back(), '\n');
  }
}

TEST(Progress, ShortJobsAreSilentInLogFiles) {
  EXPECT_TRUE(run(ProgressMode::automatic, false, 900ms).texts.empty());
  EXPECT_EQ(run(ProgressMode::always, false, 900ms).texts.size(), 1U);
}

TEST(Progress, NeverMeansNever) {
  EXPECT_TRUE(run(ProgressMode::never, true, 100s).texts.empty());
  EXPECT_TRUE(run(ProgressMode::never, false, 100s).texts.empty());
}

TEST(Progress, TerminalIsRedrawnAtMostFourTimesASecond) {
  const Written w = run(ProgressMode::automatic, true, 10s);
  ASSERT_GT(w.texts.size(), 20U);
  EXPECT_LE(w.at[0], 2s);
  for (std::size_t i = 0; i < w.at.size(); ++i) {
    const auto in_second =
        std::ranges::count_if(w.at, [&](auto t) { return t >= w.at[i] && t < w.at[i] + 1s; });
    EXPECT_LE(in_second, 4 + (w.texts.back() == "\n" ? 1 : 0));
  }
  for (std::size_t i = 0; i + 1 < w.texts.size(); ++i) {
    EXPECT_TRUE(w.texts[i].starts_with("\r"));
    EXPECT_TRUE(w.texts[i].ends_with("\x1b[K"));
    EXPECT_EQ(w.texts[i].find('\n'), std::string::npos);
  }
  EXPECT_EQ(w.texts.back(), "\n");
  EXPECT_TRUE(contains(w.texts[w.texts.size() - 2], "100.0 %  1000000/1000000 leaves"));
}

TEST(Progress, LineOfTheDocumentation) {
  std::string last;
  Progress progress("keygen LMS_SHA256_M32_H20", 1'048'576, ProgressMode::always, true,
                    [&](const std::string& text) { last = text; });
  const Clock::time_point start = Clock::now();
  progress.update_at(0, start);
  EXPECT_EQ(last, "\rkeygen LMS_SHA256_M32_H20: 0.0 %  0/1048576 leaves\x1b[K");
  progress.update_at(393'216, start + 12'635ms);
  EXPECT_TRUE(last.starts_with("\rkeygen LMS_SHA256_M32_H20: 37.5 %  393216/1048576 leaves  311"))
      << last;
  EXPECT_TRUE(contains(last, " leaves/s  ETA 21 s")) << last;
  progress.update_at(1'048'575, start + 33s);
  EXPECT_TRUE(contains(last, ": 99.9 %")) << last;  // 100 is for the end
  progress.update_at(1'048'576, start + 34s);
  EXPECT_TRUE(contains(last, ": 100.0 %") && contains(last, "  in 34 s")) << last;
}

// Work done before a resume counts for the percentage and not for the rate.
TEST(Progress, ResumedJob) {
  const Written w = run(ProgressMode::always, true, 100s, 1'000'000, 500'000);
  EXPECT_TRUE(contains(w.texts[0], "50.0 %  500000/1000000 leaves\x1b[K")) << w.texts[0];
  EXPECT_TRUE(contains(w.texts[100], " 5000 leaves/s  ETA ")) << w.texts[100];
}

TEST(Progress, LongTimesAndSlowRates) {
  std::string last;
  Progress progress(
      "x", 100, ProgressMode::always, true, [&](const std::string& t) { last = t; }, "keys");
  const Clock::time_point start = Clock::now();
  progress.update_at(0, start);
  progress.update_at(1, start + 20s);
  EXPECT_TRUE(contains(last, "1/100 keys  0.05 keys/s  ETA 33 min")) << last;
  progress.update_at(2, start + 3000s);
  EXPECT_TRUE(contains(last, " h")) << last;
}

TEST(Progress, OddNumbers) {
  std::vector<std::string> texts;
  {
    Progress progress("x", 0, ProgressMode::always, false,
                      [&](const std::string& t) { texts.push_back(t); });
    progress.update(0);
    progress.update(10);
  }
  EXPECT_EQ(texts, std::vector<std::string>{"x: 100.0 %  0/0 leaves\n"});
  Progress backwards("x", 10, ProgressMode::always, true, [](const std::string&) {});
  const Clock::time_point start = Clock::now();
  backwards.update_at(9, start);
  backwards.update_at(3, start + 1s);
  backwards.update_at(99, start + 2s);
}

}  // namespace
}  // namespace coppice
