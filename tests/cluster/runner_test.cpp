// Key generation without MPI: one rank, and several as threads; same keys, and every rank leaves
// with one code.
#include "cluster/job/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/hash/dispatch.hpp"
#include "node/signing_key.hpp"
#include "tests/cluster/thread_comm.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;
using test::World;

class Runner : public testing::Test {
 protected:
  Runner() {
    std::string name = (fs::temp_directory_path() / "coppice-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = name;
  }
  ~Runner() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  KeygenRequest request(const std::string& name, const std::string& params,
                        const std::string& hash = "sha256") {
    KeygenRequest r;
    r.params = parse_hss_params(params, hash);
    r.folder = folder_;
    r.name = name;
    r.progress = ProgressMode::never;
    r.threads = 1;
    LmsTreeSecret secret;
    secret.seed_bytes = r.params.levels.front().lms->m;
    for (std::size_t i = 0; i < secret.seed_bytes; ++i)
      secret.seed.writable()[i] = static_cast<std::uint8_t>(3 * i);
    secret.identifier.fill(0x11);
    r.insecure.emplace(std::move(secret));
    return r;
  }

  struct Outcome {
    std::optional<JobResult> result;
    std::vector<int> codes;          // per rank, 0 for none
    std::vector<std::string> texts;  // what a rank would say, "" for silence
  };
  Outcome run(int ranks, const KeygenRequest& request) {
    Outcome out;
    World world(ranks);
    const auto thrown = world.run([&](Comm& comm) {
      auto result = run_keygen(comm, comm.root() ? &request : nullptr);
      EXPECT_EQ(result.has_value(), comm.root());
      if (comm.root()) out.result = std::move(result);
    });
    for (const std::exception_ptr& e : thrown) {
      out.codes.push_back(0);
      out.texts.emplace_back();
      try {
        if (e) std::rethrow_exception(e);
      } catch (const QuietExit& quiet) {
        out.codes.back() = quiet.exit_code;
      } catch (const SharedError& error) {
        out.codes.back() = error.exit_code();
        out.texts.back() = error.what();
      }
    }
    return out;
  }

  Bytes file(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // NAME.cache without the random key id and the checksum over it.
  Bytes cache_nodes(const std::string& name) const {
    const Bytes all = file(name + ".cache");
    return {all.begin() + 64, all.end() - 32};
  }

  fs::path folder_;
};

TEST_F(Runner, OneRankWithoutMpi) {
  SelfComm comm;
  const KeygenRequest r = request("key", "5/8");
  const auto result = run_keygen(comm, &r);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->signature_checked);
  EXPECT_EQ(result->layout.size(), 1U);
  EXPECT_EQ(file("key.pub"), result->public_key.encode());

  std::string note;
  const HashMany& kernel = select_kernel(HashId::sha256);
  SigningKey key = SigningKey::open(folder_ / "key.key", kernel, 1, note);
  EXPECT_EQ(note, "");
  const Bytes signature = key.sign(key.reserve(1).first, as_bytes("message"));
  EXPECT_TRUE(hss_verify(result->public_key, as_bytes("message"), signature, kernel).valid());
}

TEST_F(Runner, RanksAndThreadsDoNotChangeTheKey) {
  for (const char* params : {"5/8", "10/4"}) {
    for (const char* hash : {"sha256", "shake256-192"}) {
      for (const unsigned rows : {0U, 3U, 5U}) {
        const std::string base = "base" + std::string(params, 1) + hash + std::to_string(rows);
        KeygenRequest first = request(base, params, hash);
        first.cache_depth = rows;
        const Outcome wanted = run(1, first);
        ASSERT_TRUE(wanted.result);
        for (const int ranks : {2, 3, 5}) {
          KeygenRequest other = request(base + "." + std::to_string(ranks), params, hash);
          other.cache_depth = rows;
          other.threads = static_cast<unsigned>(ranks % 3 + 1);
          const Outcome got = run(ranks, other);
          ASSERT_TRUE(got.result);
          EXPECT_EQ(got.result->public_key, wanted.result->public_key);
          EXPECT_EQ(file(other.name + ".pub"), file(base + ".pub"));
          EXPECT_EQ(cache_nodes(other.name), cache_nodes(base));
          ASSERT_EQ(got.result->layout.size(), static_cast<std::size_t>(ranks));
          std::uint64_t units = 0;
          for (const RankLayout& rank : got.result->layout) units += rank.units;
          EXPECT_EQ(units, std::uint64_t{1}
                               << (first.params.levels.front().lms->h - got.result->unit_height));
        }
      }
    }
  }
}

TEST_F(Runner, AFailureOfRankZeroEndsAllWithItsCode) {
  ASSERT_TRUE(run(1, request("key", "5/8")).result);
  const Bytes before = file("key.key");
  for (const int ranks : {1, 2, 4}) {
    const Outcome out = run(ranks, request("key", "5/8"));
    EXPECT_FALSE(out.result);
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(out.codes[static_cast<std::size_t>(r)], static_cast<int>(Errc::exists)) << r;
      EXPECT_EQ(out.texts[static_cast<std::size_t>(r)].empty(), r != 0)
          << r;  // one message, not one a rank
    }
  }
  EXPECT_EQ(file("key.key"), before);
}

TEST_F(Runner, AnUnknownKernelLeavesNothing) {
  KeygenRequest r = request("key", "5/8");
  r.kernel = "abacus";
  const Outcome out = run(3, r);
  EXPECT_EQ(out.codes, (std::vector<int>{2, 2, 2}));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Runner, ResumeOfAFinishedKey) {
  ASSERT_TRUE(run(2, request("key", "5/8")).result);
  const Bytes before = file("key.key");
  KeygenRequest again = request("key", "5/8");
  again.resume = true;
  const Outcome out = run(3, again);
  ASSERT_TRUE(out.result);
  EXPECT_TRUE(out.result->already_complete);
  EXPECT_EQ(out.codes, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(file("key.key"), before);
}

TEST_F(Runner, DryRun) {
  for (const int ranks : {1, 3}) {
    World world(ranks);
    const KeygenRequest r = request("key", "20/8");
    const auto thrown = world.run([&](Comm& comm) {
      const auto dry = run_dry(comm, comm.root() ? &r : nullptr);
      ASSERT_EQ(dry.has_value(), comm.root());
      if (!dry) return;
      EXPECT_EQ(dry->ranks, static_cast<unsigned>(ranks));
      EXPECT_EQ(dry->threads_total, static_cast<unsigned>(ranks));
      EXPECT_GT(dry->estimated_seconds, 0);
      EXPECT_GT(dry->memory_bytes_per_rank, 0U);
    });
    for (const auto& e : thrown) EXPECT_FALSE(e);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace coppice
