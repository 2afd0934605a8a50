// Messages between ranks: what goes in comes out, and no damaged byte brings a rank down.
#include "cluster/job/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/version.hpp"

namespace coppice {
namespace {

using Random = std::mt19937_64;

JobSpec random_spec(Random& random) {
  const std::vector<std::string> hashes = {"sha256", "sha256-192", "shake256", "shake256-192"};
  const std::vector<std::string> trees = {"5/8", "10/4", "15/2", "20/1", "25/8"};
  std::string params = trees[random() % trees.size()];
  for (std::uint64_t level = random() % kMaxHssLevels; level > 0; --level) {
    params += "," + trees[random() % trees.size()];
  }
  JobSpec spec;
  spec.program_version = kVersion;
  spec.params = parse_hss_params(params, hashes[random() % hashes.size()]);
  for (auto& b : spec.key_id) b = static_cast<std::uint8_t>(random());
  for (auto& b : spec.identifier) b = static_cast<std::uint8_t>(random());
  spec.seed_bytes = random() % 2 == 0 ? 24 : 32;
  spec.cache_depth = static_cast<std::uint32_t>(random() % 26);
  spec.unit_height = static_cast<std::uint32_t>(random() % 26);
  spec.threads = static_cast<std::uint32_t>(random());
  spec.kernel = random() % 2 == 0 ? "" : "avx2";
  return spec;
}

RankLayout random_layout(Random& random) {
  RankLayout layout;
  layout.rank = static_cast<std::uint32_t>(random());
  layout.host = "node" + std::to_string(random() % 1000);
  for (std::uint64_t n = random() % 300; n > 0; --n)
    layout.cpus.push_back(static_cast<unsigned>(random() % 4096));
  layout.threads = static_cast<std::uint32_t>(random());
  layout.kernel = "sha-ni";
  layout.program_version = "1.2.3";
  layout.peak_memory_bytes = random();
  layout.compute_seconds = static_cast<double>(random() % 1000000) / 1000;
  layout.units = random();
  layout.busy_seconds = static_cast<double>(random() % 1000000) / 1000;
  return layout;
}

TEST(Wire, JobSpecRoundTrip) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const JobSpec spec = random_spec(random);
    ASSERT_EQ(decode_job_spec(encode(spec)), spec);
  }
}

TEST(Wire, RankLayoutRoundTrip) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const RankLayout layout = random_layout(random);
    ASSERT_EQ(decode_rank_layout(encode(layout)), layout);
  }
  EXPECT_EQ(decode_rank_layout({}), RankLayout{});
}

// A damaged message is an Error or, where the byte is a plain value, another valid message.
template <class Decode>
void damage(const Bytes& wire, Random& random, Decode decode) {
  const auto attempt = [&](const Bytes& bad) {
    try {
      decode(bad);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()), "");
    }
  };
  for (std::size_t at = 0; at < wire.size(); ++at) {
    Bytes bad = wire;
    bad[at] ^= static_cast<std::uint8_t>(1U << (random() % 8));
    attempt(bad);
    bad[at] = static_cast<std::uint8_t>(random());
    attempt(bad);
    attempt(Bytes(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(at)));
  }
}

TEST(Wire, DamagedBytes) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    damage(encode(random_spec(random)), random, [](const Bytes& b) { (void)decode_job_spec(b); });
    damage(encode(random_layout(random)), random,
           [](const Bytes& b) { (void)decode_rank_layout(b); });
  }
}

TEST(Wire, Noise) {
  Random random(5);
  for (int i = 0; i < 5000; ++i) {
    Bytes noise(random() % 200);
    for (auto& b : noise) b = static_cast<std::uint8_t>(random());
    EXPECT_THROW((void)decode_job_spec(noise), Error);
    try {
      (void)decode_rank_layout(noise);
    } catch (const Error&) {
    }
  }
}

TEST(Wire, EmptyAndForeignSpecs) {
  EXPECT_THROW((void)decode_job_spec({}), Error);
  Random random(6);
  const Bytes wire = encode(random_spec(random));
  ASSERT_EQ(wire[0], 0x08);  // field 1, schema_version
  Bytes other = wire;
  other[1] = kSchemaVersion + 1;
  try {
    (void)decode_job_spec(other);
    ADD_FAILURE() << "another version was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("version 2"), std::string::npos);
  }
}

TEST(Wire, NoSecretTravelsWithTheSpec) {
  // The message has no field for a seed; its length is all it says about one.
  Random random(7);
  JobSpec spec = random_spec(random);
  spec.seed_bytes = 32;
  EXPECT_LT(encode(spec).size(), 900U);
}

JobResult result() {
  JobResult r;
  r.params = parse_hss_params("10/8,5/4");
  r.files = KeyPaths::in("folder", "name");
  r.public_key = {2, {r.params.levels.front(), {}, {}}};
  r.cache_depth = 2;
  RankLayout rank;
  rank.host = "a";
  rank.threads = 4;
  rank.units = 8;
  r.layout = {rank, rank, rank};
  r.layout[2].host = "b";
  r.compute_seconds = 2.0;
  return r;
}

TEST(Wire, ResultAsJson) {
  const std::string text = to_json(result());
  for (const char* part :
       {"\"schema_version\": 1", "\"ranks\": 3", "\"hosts\": 2", "\"threads_total\": 12",
        "\"units\": \"24\"", "\"leaves\": \"1024\"", "\"leaves_per_second\": 512",
        "\"signatures\": \"32768\"", "\"child_seeds\": \"derived\"", "\"key\": \"folder/name.key\"",
        "\"cache_bytes\": \"224\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(Wire, ResultWithoutTimeHasNoInfinity) {
  JobResult r = result();
  r.compute_seconds = 0;
  const std::string text = to_json(r);
  EXPECT_EQ(text.find("Infinity"), std::string::npos);
  EXPECT_EQ(text.find("NaN"), std::string::npos);
}

TEST(Wire, DryRunAsJson) {
  DryRun dry;
  dry.params = parse_hss_params("20/8");
  dry.unit_height = 10;
  dry.cache_depth = 12;
  dry.estimated_seconds = 1.5;
  const std::string text = to_json(dry);
  for (const char* part :
       {"\"units\": \"1024\"", "\"leaves\": \"1048576\"", "\"estimated_seconds\": 1.5"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace coppice
