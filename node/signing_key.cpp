// A private LMS/HSS key opened for signing: key file, cache and ledger together, checked and whole.
#include "node/signing_key.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "node/tree_job.hpp"

namespace coppice {

TreeCache ThreadedGrower::grow(const LmsPair& pair, const LmsTreeSecret& tree, unsigned depth) {
  const LmsTreeSecret* const one[] = {&tree};
  const LmsTreesFactory factory(pair, one, kernel_);
  UnitPlan plan{pair.lms->h, 0, depth, factory.node_bytes()};
  plan.unit_height = choose_unit_height(plan.tree_height, executor_.threads(),
                                        std::uint64_t{1} << 16, kernel_.lanes);
  const UnitRange all{0, plan.units()};
  Bytes records(static_cast<std::size_t>(plan.units()) * plan.record_bytes());
  const std::atomic<bool> never{false};
  grow_units(factory, plan, all, executor_, never, records);

  // Rows between the units and the root come from the units: fold a cache that reaches both.
  const unsigned unit_depth = plan.tree_height - plan.unit_height;
  TreeCache cache(0, plan.tree_height, std::max(depth, unit_depth), plan.node_bytes);
  place_records(plan, all, records, cache);
  const std::unique_ptr<TreeScheme> scheme = factory.make();
  cache.fold(*scheme);
  if (depth >= unit_depth) return cache;
  TreeCache upper(0, plan.tree_height, depth, plan.node_bytes);
  std::ranges::copy(cache.bytes().first(upper.bytes().size()), upper.bytes().begin());
  return upper;
}

struct SigningKey::Impl {
  HssKeyFile key;
  const HashMany& kernel;
  StateLedger ledger;
  TreeCache cache;
  ThreadedGrower grower;
  DerivedChildren derived;
  std::optional<LedgerChildren> stored;
  std::optional<HssSigner> signer;

  Impl(HssKeyFile k, const HashMany& kern, StateLedger l, TreeCache c, unsigned threads)
      : key(std::move(k)), kernel(kern), ledger(std::move(l)), cache(std::move(c)),
        grower(kern, threads) {}
};

HssKeyFile load_key_file(const std::filesystem::path& key_file) {
  const WipedBytes file = read_secret_file(key_file);
  return decode_key_file(file.view(), key_file.string());
}

SigningKey SigningKey::open(const std::filesystem::path& key_file, const HashMany& kernel,
                            unsigned threads, std::string& note) {
  HssKeyFile key = load_key_file(key_file);
  if (!key.complete) {
    fail(Errc::bad_data, key_file.string() +
                             ": key generation has not finished; run 'coppice keygen --resume' with "
                             "the flags it was started with");
  }
  const KeyPaths paths = KeyPaths::of_key(key_file);
  StateLedger ledger = StateLedger::open(paths.state, key.id, key.params.capacity());

  std::optional<TreeCache> cache;
  const LmsPair& top = key.params.levels.front();
  const LmsTreeSecret* const one[] = {&key.top};
  if (std::filesystem::exists(paths.cache)) {
    cache = decode_cache_file(read_file(paths.cache), key, paths.cache.string());
    LmsTrees scheme(top, one, kernel);
    if (const auto bad = cache->first_inconsistent(scheme)) {
      fail(Errc::bad_data, paths.cache.string() + ": node " + std::to_string(bad->index) +
                               " at height " + std::to_string(bad->height) +
                               " does not fit its children; remove the file to have it grown again");
    }
  } else {
    ThreadedGrower grower(kernel, threads);
    cache = grower.grow(top, key.top, key.cache_depth);
    if (!equal(cache->root(), ByteView(key.root).first(top.lms->m))) {
      fail(Errc::bad_data, key_file.string() + ": the tree grown from this key has another root");
    }
    write_file(paths.cache, encode_cache_file(key, *cache), FileMode::secret, Overwrite::replace);
    note = paths.cache.string() + " was missing; the tree has been grown again and the cache written";
  }
  auto impl = std::make_unique<Impl>(std::move(key), kernel, std::move(ledger), std::move(*cache),
                                     threads);
  ChildSource* children = &impl->derived;
  if (impl->key.child_seeds == ChildSeeds::independent) {
    children = &impl->stored.emplace(impl->ledger);
  }
  impl->signer.emplace(impl->key.params, impl->key.top, impl->cache, *children, impl->grower, kernel);
  return SigningKey(std::move(impl));
}

SigningKey::SigningKey(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey::~SigningKey() = default;

const HssKeyFile& SigningKey::key() const { return impl_->key; }
std::uint64_t SigningKey::remaining() const { return impl_->ledger.remaining(); }
IndexRange SigningKey::reserve(std::uint64_t count) { return impl_->ledger.reserve(count); }

Bytes SigningKey::sign(std::uint64_t reserved_index, ByteView message) {
  Bytes signature = impl_->signer->sign(reserved_index, message);
  const Verdict verdict = hss_verify(impl_->key.public_key(), message, signature, impl_->kernel);
  if (!verdict.valid()) {
    fail(Errc::internal, "the new signature does not verify (" + verdict.detail +
                             "); its index is spent and nothing was released. Check this machine");
  }
  return signature;
}

}  // namespace coppice
