// coppice bench kernels: chain steps, one- and many-block digests of every kernel beside OpenSSL.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "cluster/cli/bench.hpp"
#include "cluster/cli/options.hpp"
#include "core/hash/dispatch.hpp"
#include "core/sys/openssl_baseline.hpp"

namespace coppice {
namespace {

constexpr std::size_t kAtQ = 16;      // layout of LMS hash inputs, RFC 8554 section 7.1
constexpr std::size_t kAtStep = 22;
constexpr double kSliceSeconds = 1e-3;

struct Options {
  std::string hash = "sha256";
  unsigned rounds = 100;
};

struct FreeLanes {
  void operator()(std::uint8_t* p) const { ::operator delete(p, std::align_val_t{64}); }
};

// One kernel with buffers in lanes: up to 67 digests of 32 bytes, the longest body that is timed.
struct Bed {
  static constexpr std::size_t kBody = 67 * 32;
  explicit Bed(const HashMany& k)
      : kernel(k),
        body(static_cast<std::uint8_t*>(::operator new(kBody * k.lanes, std::align_val_t{64}))) {
    std::memset(body.get(), 0x5a, kBody * k.lanes);
    head.length = kAtStep + 1;
    head.add_field(kAtQ, q.data());
    for (std::size_t l = 0; l < q.size(); ++l) q[l] = static_cast<std::uint32_t>(l);
  }
  const HashMany& kernel;
  std::unique_ptr<std::uint8_t, FreeLanes> body;
  std::array<std::uint32_t, kMaxLanes> q{};
  MessageHead head;
};

class KernelBench {
 public:
  explicit KernelBench(HashId hash) : hash_(hash) {
    add_openssl();
    for (const HashMany* kernel : kernels(hash)) add_kernel(*kernel);
  }
  [[nodiscard]] const std::vector<BenchCase>& cases() const { return cases_; }

 private:
  // `repeat` from the time of one call, so that a slice takes about a millisecond.
  void add(std::string name, std::string kernel, double items, double hashes, double bound,
           const std::function<void()>& once) {
    once();
    const double seconds = time_of(once);
    const auto repeat = static_cast<unsigned>(std::max(1.0, kSliceSeconds / seconds));
    BenchCase c;
    c.name = std::move(name);
    c.kernel = std::move(kernel);
    c.items = items * repeat;
    c.hashes_per_item = hashes;
    c.bound = bound;
    c.run = [once, repeat] {
      for (unsigned i = 0; i < repeat; ++i) once();
    };
    cases_.push_back(std::move(c));
  }

  static double time_of(const std::function<void()>& once) {
    const auto before = std::chrono::steady_clock::now();
    once();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  }

  void add_openssl() {
    if (hash_ == HashId::sha256) {
      auto state = std::make_shared<std::array<std::uint32_t, 8>>();
      add("compression, SHA256_Transform", "openssl", 100, 1, 0, [state] {
        std::array<std::uint8_t, 64> block{};
        for (int i = 0; i < 100; ++i) {
          store_be32(&block[24], (*state)[0]);  // each call needs the one before
          openssl_sha256_transform(*state, block.data());
        }
      });
    }
    if (hash_ == HashId::sha512) {
      auto state = std::make_shared<std::array<std::uint64_t, 8>>();
      add("compression, SHA512_Transform", "openssl", 100, 1, 0, [state] {
        std::array<std::uint8_t, 128> block{};
        for (int i = 0; i < 100; ++i) {
          store_be64(&block[24], (*state)[0]);
          openssl_sha512_transform(*state, block.data());
        }
      });
    }
    auto evp = std::make_shared<EvpHash>(hash_);
    add("55 bytes, EVP, context reused", "openssl", 100, 1, 0, [evp] {
      std::array<std::uint8_t, 23 + 64> message{};  // a SHA-512 digest reaches past byte 55
      for (int i = 0; i < 100; ++i) evp->digest(ByteView(message).first(55), &message[23]);
    });
  }

  void add_chain(const std::shared_ptr<Bed>& bed, std::size_t n, std::uint32_t steps) {
    const double lanes = bed->kernel.lanes;
    add(fmt::format("chain step, n = {}, {} steps", n, steps), std::string(bed->kernel.name),
        lanes * steps, 1, operation_bound(bed->kernel, true), [bed, n, steps] {
          ChainSteps range;
          range.counter = kAtStep;
          range.last = steps;
          bed->kernel.chain(bed->head, range, n, bed->body.get());
        });
  }

  void add_digest(const std::shared_ptr<Bed>& bed, const std::string& name, std::size_t body,
                  double hashes) {
    add(name, std::string(bed->kernel.name), bed->kernel.lanes, hashes,
        operation_bound(bed->kernel, false), [bed, body] {
          bed->kernel.digest(bed->head, bed->body.get(), body, 32, bed->body.get());
        });
  }

  void add_kernel(const HashMany& kernel) {
    auto bed = std::make_shared<Bed>(kernel);
    const bool sha = hash_ == HashId::sha256;
    for (const std::size_t n : {std::size_t{32}, std::size_t{24}}) {
      for (const std::uint32_t steps : {255U, 15U, 3U, 1U}) add_chain(bed, n, steps);
    }
    add_digest(bed, "digest, 55 bytes (one block)", 32, 1);
    add_digest(bed, "digest, 87 bytes (inner node)", 64, sha ? 2 : 1);
    add_digest(bed, "digest, 2167 bytes (LM-OTS key, W4)", Bed::kBody,
               sha ? 34 : hash_ == HashId::sha512 ? 18 : 16);
  }

  HashId hash_;
  std::vector<BenchCase> cases_;
};

int run(const Options& o, const CliContext& context) {
  if (context.launch.rank != 0) return 0;
  HashId hash{};
  if (o.hash == "sha256") {
    hash = HashId::sha256;
  } else if (o.hash == "shake256") {
    hash = HashId::shake256;
  } else if (o.hash == "sha512") {
    hash = HashId::sha512;
  } else {
    fail(Errc::usage, "--hash '" + o.hash + "' is unknown; use sha256, shake256 or sha512");
  }
  const KernelBench bench(hash);
  // The first case is OpenSSL's best for one short message: every ratio refers to it.
  report(bench.cases(), measure(bench.cases(), o.rounds), "the first row, per hash", context);
  return 0;
}

}  // namespace

void add_bench_kernels(CLI::App& bench, CliContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App& verb = *bench.add_subcommand("kernels", "Time of one compression by kernel and message shape");
  add_value(verb, "--hash", o->hash, "sha256 (default), shake256 or sha512")->option_text("H");
  verb.add_option("--rounds", o->rounds, "interleaved rounds (default 100)")
      ->check(CLI::Range(1U, 100000U))->option_text("N");
  add_format(verb, context);
  verb.callback([o, &context] { context.run = [o, &context] { return run(*o, context); }; });
}

}  // namespace coppice
