// Every batched kernel that this CPU can run, lane by lane against the scalar hashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/hash/dispatch.hpp"
#include "core/hash/hash_many.hpp"
#include "core/hash/hasher.hpp"

namespace coppice {
namespace {

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t from, std::size_t to) {
  return from + random() % (to - from + 1);
}

Bytes random_bytes(Random& random, std::size_t n) {
  Bytes b(n);
  for (auto& x : b) x = static_cast<std::uint8_t>(random());
  return b;
}

// An SoA buffer of exactly the size it needs, so that the address sanitizer sees a step outside.
class Soa {
 public:
  Soa(const HashMany& k, std::size_t bytes_per_lane)
      : kernel_(k),
        bytes_(std::max<std::size_t>(bytes_per_lane * k.lanes, 64)),
        data_(static_cast<std::uint8_t*>(std::aligned_alloc(64, (bytes_ + 63) / 64 * 64))) {
    std::memset(data_.get(), 0xee, bytes_);
  }
  void* get() { return data_.get(); }
  void put(std::size_t lane, ByteView bytes) { put_lane(kernel_, lane, bytes, data_.get()); }
  Bytes lane(std::size_t lane, std::size_t n) const {
    Bytes out(n);
    get_lane(kernel_, lane, data_.get(), out);
    return out;
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  const HashMany& kernel_;
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t, Free> data_;
};

enum class Midstate { none, uniform, in_lanes };

// A random head with its per-lane fields and midstates, and the bytes that each lane means by it.
struct HeadCase {
  const HashMany& kernel;
  MessageHead head;
  std::vector<std::vector<std::uint32_t>> fields;
  std::vector<Bytes> prefix;  // what the midstate has absorbed, per lane
  std::unique_ptr<Soa> midstates;

  HeadCase(Random& random, const HashMany& k, std::size_t length, double field_chance,
           Midstate midstate)
      : kernel(k) {
    const Bytes filling = random_bytes(random, kMaxHead);  // bytes past `length` must not matter
    std::copy(filling.begin(), filling.end(), head.bytes.begin());
    head.length = static_cast<std::uint8_t>(length);
    std::vector<std::size_t> offsets;
    for (std::size_t at = 0; at < length; at += 4) {
      if (std::bernoulli_distribution(field_chance)(random)) offsets.push_back(at);
    }
    for (const std::size_t at : offsets) {
      std::uint32_t keep = 0xffffffff;
      if (at + 4 > length) keep <<= 8 * (at + 4 - length);
      std::vector<std::uint32_t> values(k.lanes);
      for (auto& v : values) v = static_cast<std::uint32_t>(random()) & keep;
      fields.push_back(std::move(values));
    }
    for (std::size_t f = 0; f < offsets.size(); ++f) head.add_field(offsets[f], fields[f].data());
    add_midstate(random, midstate);
  }

  // The head bytes of one lane; a chain gives the step number for byte `counter`.
  Bytes bytes(std::size_t lane) const {
    Bytes b(head.bytes.begin(), head.bytes.end());
    for (std::size_t f = 0; f < fields.size(); ++f) {
      store_be32(&b[head.field_offset[f]], fields[f][lane]);
    }
    b.resize(head.length);
    return b;
  }

  // The byte that counts steps starts at zero where a field covers it.
  void clear_counter(std::size_t counter) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::size_t at = head.field_offset[f];
      if (counter < at || counter >= at + 4) continue;
      for (auto& v : fields[f]) v &= ~(0xffu << (24 - 8 * (counter - at)));
    }
  }

  Bytes hash(std::size_t lane, ByteView head_bytes, ByteView body, std::size_t n) const {
    Bytes out(n);
    Hasher h(kernel.hash);
    h.update(prefix[lane]).update(head_bytes).update(body).final(out);
    return out;
  }

 private:
  void add_midstate(Random& random, Midstate midstate) {
    prefix.resize(kernel.lanes);
    if (midstate == Midstate::none) return;
    const bool sponge = kernel.hash == HashId::shake256;
    const std::size_t words = sponge ? 25 : 8;
    const std::size_t blocks = pick(random, 1, 2);
    const std::size_t absorbed = blocks * (sponge ? kShake256Rate : 16 * kernel.word_bytes);
    const bool uniform = midstate == Midstate::uniform;
    const std::size_t room = words * kernel.word_bytes;
    midstates = std::make_unique<Soa>(kernel, room);
    for (std::size_t lane = 0; lane < kernel.lanes; ++lane) {
      prefix[lane] = uniform && lane > 0 ? prefix[0] : random_bytes(random, absorbed);
      const Bytes state = sponge                          ? keccak_midstate(prefix[lane])
                          : kernel.hash == HashId::sha512 ? sha512_midstate(prefix[lane])
                                                          : sha256_midstate(prefix[lane]);
      if (!uniform) midstates->put(lane, state);
      if (uniform && lane == 0) put_uniform(state);
    }
    head.midstate = midstates->get();
    head.midstate_in_lanes = !uniform;
    head.absorbed = static_cast<std::uint32_t>(absorbed);
  }

  void put_uniform(ByteView state) {
    HashMany one = kernel;
    one.lanes = 1;
    put_lane(one, 0, state, midstates->get());
  }

  static Bytes sha256_midstate(const Bytes& data) {
    auto state = kSha256Initial;
    for (std::size_t at = 0; at < data.size(); at += 64) sha256_compress(state, &data[at]);
    Bytes out;
    for (const std::uint32_t word : state) append_be32(out, word);
    return out;
  }
  static Bytes sha512_midstate(const Bytes& data) {
    auto state = kSha512Initial;
    for (std::size_t at = 0; at < data.size(); at += 128) sha512_compress(state, &data[at]);
    Bytes out(64);
    for (std::size_t i = 0; i < 8; ++i) store_be64(&out[8 * i], state[i]);
    return out;
  }
  static Bytes keccak_midstate(const Bytes& data) {
    std::array<std::uint64_t, 25> state{};
    for (std::size_t at = 0; at < data.size(); at += kShake256Rate) {
      for (std::size_t i = 0; i < 17; ++i)
        state[i] ^= __builtin_bswap64(load_be64(&data[at + 8 * i]));
      keccak_f1600(state);
    }
    Bytes out(200);
    for (std::size_t i = 0; i < 25; ++i) store_be64(&out[8 * i], __builtin_bswap64(state[i]));
    return out;
  }
};

constexpr std::size_t kDigestSizes[] = {16, 24, 32};
constexpr Midstate kMidstates[] = {Midstate::none, Midstate::uniform, Midstate::in_lanes};

class HashManyTest : public testing::TestWithParam<const HashMany*> {
 protected:
  const HashMany& kernel() const { return *GetParam(); }

  void check_digest(Random& random, const HeadCase& head, std::size_t body_bytes, std::size_t n,
                    bool in_place) {
    const HashMany& k = kernel();
    SCOPED_TRACE("head " + std::to_string(head.head.length) + " fields " +
                 std::to_string(head.head.field_count) + " body " + std::to_string(body_bytes) +
                 " n " + std::to_string(n) + (in_place ? " in place" : ""));
    Soa body(k, in_place ? std::max(body_bytes, n) : body_bytes);
    Soa out(k, n);
    std::vector<Bytes> bodies;
    for (std::size_t lane = 0; lane < k.lanes; ++lane) {
      bodies.push_back(random_bytes(random, body_bytes));
      body.put(lane, bodies[lane]);
    }
    k.digest(head.head, body.get(), body_bytes, n, in_place ? body.get() : out.get());
    for (std::size_t lane = 0; lane < k.lanes; ++lane) {
      ASSERT_EQ((in_place ? body : out).lane(lane, n),
                head.hash(lane, head.bytes(lane), bodies[lane], n))
          << "lane " << lane;
    }
  }

  void check_chain(Random& random, HeadCase& head, ChainSteps steps, std::size_t n) {
    const HashMany& k = kernel();
    SCOPED_TRACE("head " + std::to_string(head.head.length) + " fields " +
                 std::to_string(head.head.field_count) + " counter " +
                 std::to_string(steps.counter) + " steps " + std::to_string(steps.first) + ".." +
                 std::to_string(steps.last) + " n " + std::to_string(n));
    head.clear_counter(steps.counter);
    Soa x(k, n);
    std::vector<Bytes> values;
    for (std::size_t lane = 0; lane < k.lanes; ++lane) {
      values.push_back(random_bytes(random, n));
      x.put(lane, values[lane]);
    }
    k.chain(head.head, steps, n, x.get());
    for (std::size_t lane = 0; lane < k.lanes; ++lane) {
      const std::uint32_t first = steps.lane_first ? steps.lane_first[lane] : steps.first;
      const std::uint32_t last = steps.lane_last ? steps.lane_last[lane] : steps.last;
      Bytes head_bytes = head.bytes(lane);
      for (std::uint32_t j = first; j < last; ++j) {
        head_bytes[steps.counter] = static_cast<std::uint8_t>(j);
        values[lane] = head.hash(lane, head_bytes, values[lane], n);
      }
      ASSERT_EQ(x.lane(lane, n), values[lane]) << "lane " << lane;
    }
  }

  // The chain with equal lanes, then with bounds as verification and as signing have them.
  void check_chain_bounds(Random& random, HeadCase& head, std::size_t counter, std::uint32_t first,
                          std::uint32_t last, std::size_t n) {
    ChainSteps steps;
    steps.counter = static_cast<std::uint8_t>(counter);
    steps.first = first;
    steps.last = last;
    check_chain(random, head, steps, n);
    std::vector<std::uint32_t> bounds(kernel().lanes);
    for (auto& b : bounds) b = static_cast<std::uint32_t>(pick(random, first, last));
    bounds[0] = last;  // an empty range in one form, the full one in the other
    steps.lane_first = bounds.data();
    check_chain(random, head, steps, n);
    steps.lane_first = nullptr;
    steps.lane_last = bounds.data();
    check_chain(random, head, steps, n);
  }

  std::size_t chain_room() const {
    switch (kernel().hash) {
      case HashId::sha256:
        return 55;
      case HashId::sha512:
        return 111;
      case HashId::shake256:
        break;
    }
    return 135;
  }
};

TEST_P(HashManyTest, DigestOfEveryHeadLength) {
  Random random(10);
  for (std::size_t length = 1; length <= kMaxHead; ++length) {
    for (const Midstate midstate : kMidstates) {
      const HeadCase head(random, kernel(), length, 0.3, midstate);
      const std::size_t n = kDigestSizes[pick(random, 0, 2)];
      check_digest(random, head, 8 * pick(random, 0, 40), n, pick(random, 0, 1) == 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(HashManyTest, DigestOfEveryShortBody) {
  Random random(11);
  for (const std::size_t length : {16u, 20u, 22u, 23u, 32u, 48u, 64u}) {
    for (std::size_t body = 0; body <= 288; body += 8) {
      const HeadCase head(random, kernel(), length, 0.4, kMidstates[pick(random, 0, 2)]);
      check_digest(random, head, body, kDigestSizes[pick(random, 0, 2)], pick(random, 0, 1) == 1);
      if (HasFatalFailure()) return;
    }
  }
}

// The shapes of LMS (head 22, 23) and of SLH-DSA SHA2 (head 22 behind one block of PK.seed and
// zeros): one-block digests of fewer bytes than the body has, and bodies around whole blocks.
TEST_P(HashManyTest, DigestBehindTreeHeads) {
  Random random(15);
  for (const std::size_t length : {22u, 23u}) {
    for (const std::size_t body : {16u, 24u, 32u, 48u, 64u, 96u, 232u, 360u, 488u, 1224u, 2144u}) {
      for (const std::size_t n : kDigestSizes) {
        for (const Midstate midstate : kMidstates) {
          const HeadCase head(random, kernel(), length, 0.5, midstate);
          check_digest(random, head, body, n, pick(random, 0, 1) == 1);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(HashManyTest, DigestOfLongBodies) {
  Random random(12);
  for (const std::size_t n : kDigestSizes) {
    for (const std::size_t count : {34u, 67u, 133u, 265u}) {  // LM-OTS public keys
      const HeadCase head(random, kernel(), 22, 0.3, Midstate::none);
      check_digest(random, head, count * n, n, count == 34);
      if (HasFatalFailure()) return;
    }
    const HeadCase head(random, kernel(), pick(random, 1, kMaxHead), 0.3, Midstate::in_lanes);
    check_digest(random, head, 9000, n, false);
    if (HasFatalFailure()) return;
  }
}

TEST_P(HashManyTest, ChainsOfAllWidths) {
  Random random(13);
  for (const std::size_t n : kDigestSizes) {
    for (const std::uint32_t steps : {1u, 3u, 15u, 255u}) {
      // LMS: counter at 22, body at 23. SLH-DSA SHA2: at 21 and 22; SHAKE: last byte of the head.
      for (const std::size_t length : {std::size_t{22}, std::size_t{23}, std::size_t{16 + n}}) {
        if (length + n > chain_room()) continue;
        if (steps == 255 && length > 23) continue;
        const Midstate midstate = length == 23 ? Midstate::none : kMidstates[pick(random, 0, 2)];
        HeadCase head(random, kernel(), length, 0.5, midstate);
        check_chain_bounds(random, head, length - 1, 0, steps, n);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(HashManyTest, ChainsOfAnyHead) {
  Random random(14);
  for (std::size_t length = 1; length <= kMaxHead; ++length) {
    for (const std::size_t n : kDigestSizes) {
      if (length + n > chain_room()) continue;
      HeadCase head(random, kernel(), length, 0.4, kMidstates[pick(random, 0, 2)]);
      const auto first = static_cast<std::uint32_t>(pick(random, 0, 250));
      const auto last = first + static_cast<std::uint32_t>(pick(random, 0, 5));
      check_chain_bounds(random, head, pick(random, 0, length - 1), first, last, n);
      if (HasFatalFailure()) return;
    }
  }
}

std::vector<const HashMany*> all_kernels() {
  std::vector<const HashMany*> list;
  for (const HashId id : {HashId::sha256, HashId::shake256, HashId::sha512}) {
    for (const HashMany* k : kernels(id)) list.push_back(k);
  }
  return list;
}

std::string kernel_test_name(const testing::TestParamInfo<const HashMany*>& kernel) {
  std::string name(hash_name(kernel.param->hash));
  name += '_';
  name += kernel.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, HashManyTest, testing::ValuesIn(all_kernels()), kernel_test_name);

TEST(Dispatch, PortableIsTheLastKernelAndLanesAreBounded) {
  for (const HashId id : {HashId::sha256, HashId::shake256, HashId::sha512}) {
    ASSERT_FALSE(kernels(id).empty());
    EXPECT_EQ(kernels(id).back()->name, "portable");
    for (const HashMany* k : kernels(id)) {
      EXPECT_EQ(k->hash, id);
      EXPECT_LE(k->lanes, kMaxLanes);
      EXPECT_EQ(&select_kernel(id, k->name), k);
    }
    EXPECT_EQ(&select_kernel(id), kernels(id).front());
  }
}

TEST(Dispatch, RefusesUnknownNames) {
  try {
    (void)select_kernel(HashId::sha256, "mmx");
    FAIL() << "an unknown kernel was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::usage);
    EXPECT_NE(std::string(e.what()).find("portable"), std::string::npos);
  }
}

}  // namespace
}  // namespace coppice
