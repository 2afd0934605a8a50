// Poisons secret bytes as "undefined" for valgrind's memcheck and runs all code that touches them:
// a jump or an address that depends on them is reported.
#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "core/hash/dispatch.hpp"
#include "core/hash/hasher.hpp"
#include "core/lms/hss.hpp"

namespace coppice {
namespace {

template <std::size_t N>
void poison(Secret<N>& secret) {
  VALGRIND_MAKE_MEM_UNDEFINED(secret.writable().data(), N);
}
void publish(ByteSpan data) { VALGRIND_MAKE_MEM_DEFINED(data.data(), data.size()); }

LmsTreeSecret secret_tree(std::size_t seed_bytes) {
  LmsTreeSecret tree;
  tree.seed_bytes = seed_bytes;
  for (std::size_t i = 0; i < seed_bytes; ++i) tree.seed.writable()[i] = static_cast<std::uint8_t>(7 * i);
  poison(tree.seed);
  return tree;
}

// Leaves: secrets, chains, public-key hash, leaf hash; then one row of nodes.
void grow(const LmsPair& pair, const HashMany& kernel) {
  const LmsTreeSecret tree = secret_tree(pair.lms->m);
  const LmsTreeSecret* const one[] = {&tree};
  LmsTrees trees(pair, one, kernel);
  std::vector<LeafRef> refs(kernel.lanes);
  for (std::size_t l = 0; l < refs.size(); ++l) refs[l].leaf = l % 32;
  Bytes out(refs.size() * trees.node_bytes());
  trees.leaves(refs, out);
  const NodeRef parent{0, {1, 0}};
  trees.nodes(std::span(&parent, 1), ByteView(out).first(2 * trees.node_bytes()),
              ByteSpan(out).first(trees.node_bytes()));
  publish(out);
}

// One-time signature. C and the message are public, and with them the digits, which decide lengths.
void sign(const LmsPair& pair, const HashMany& kernel) {
  const LmsTreeSecret tree = secret_tree(pair.lms->m);
  LmOts ots(*pair.ots, kernel);
  Bytes signature(pair.ots->signature_bytes());
  const Bytes randomizer(pair.ots->n, 0x42);
  ots.sign(tree, 5, randomizer, as_bytes("message"), signature);
  publish(signature);
}

// Derivations by the plain hashes: randomizer, child SEED and I.
void derive(const LmsPair& pair) {
  const LmsTreeSecret tree = secret_tree(pair.lms->m);
  LmsTreeSecret child;
  DerivedChildren().child(1, 0, pair, tree, 3, child);
  Bytes randomizer(pair.lms->m);
  lms_derive(pair.lms->hash, tree, 1, kDeriveRandomizer, randomizer);
  publish(randomizer);
}

int run() {
  for (const char* hash : {"sha256", "sha256-192", "shake256", "shake256-192"}) {
    for (const char* params : {"5/1", "5/4"}) {
      const LmsPair pair = parse_hss_params(params, hash).levels.front();
      derive(pair);
      for (const HashMany* kernel : kernels(pair.lms->hash)) {
        grow(pair, *kernel);
        sign(pair, *kernel);
        std::printf("%s, %s: no branch or address depends on the seed\n", pair.name().c_str(),
                    std::string(kernel->name).c_str());
      }
    }
  }
  return 0;
}

// The control: a branch on a secret byte.
int leak() {
  LmsTreeSecret tree = secret_tree(32);
  volatile int seen = 0;
  if (tree.seed.bytes()[0] > 100) seen = 1;
  std::printf("the secret byte was %s\n", seen != 0 ? "large" : "small");
  return 0;
}

}  // namespace
}  // namespace coppice

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) {
    std::fprintf(stderr, "run this under valgrind\n");
    return 2;
  }
  return argc > 1 && std::strcmp(argv[1], "--leak") == 0 ? coppice::leak() : coppice::run();
}
