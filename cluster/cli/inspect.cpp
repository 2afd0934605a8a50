// coppice inspect: what a file is and what it says, without using it. Attribute names of PKCS #11 3.2.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cluster/cli/cli.hpp"
#include "cluster/cli/options.hpp"
#include "cluster/job/wire.hpp"
#include "cluster/report/json.hpp"
#include "cluster/report/text.hpp"
#include "core/encode/hex.hpp"
#include "node/atomic_file.hpp"
#include "node/key_file.hpp"
#include "node/state_ledger.hpp"
#include "proto/result.pb.h"

namespace coppice {
namespace {

namespace fs = std::filesystem;

void fill_levels(const HssParams& params, v1::InspectResult& m) {
  m.set_params(params.name());
  m.set_hss_levels(static_cast<std::uint32_t>(params.levels.size()));
  for (const LmsPair& pair : params.levels) {
    v1::InspectLevel& level = *m.add_levels();
    level.set_lms_type(std::string(pair.lms->name));
    level.set_lmots_type(std::string(pair.ots->name));
  }
}

void fill_private(const fs::path& path, const HssKeyFile& key, v1::InspectResult& m) {
  m.set_kind("private-key");
  fill_levels(key.params, m);
  m.set_identifier(to_hex(key.top.identifier));
  m.set_signatures(key.params.capacity());
  m.set_insecure_seed(key.insecure_seed);
  m.set_child_seeds(key.child_seeds == ChildSeeds::derived ? "derived" : "independent");
  m.set_cache_depth(key.cache_depth);
  m.set_created(key.created);
  if (!key.complete) {
    m.set_status("generating");
    return;
  }
  m.set_public_key(to_hex(key.public_key().encode()));
  const StateLedger ledger =
      StateLedger::open(KeyPaths::of_key(path).state, key.id, key.params.capacity());
  m.set_next_index(ledger.next());
  m.set_hss_keys_remaining(ledger.remaining());
  m.set_status(ledger.remaining() == 0 ? "exhausted" : "complete");
}

// The types of lower levels are not in a public key: only the first level is known.
void fill_public(const HssPublicKey& key, v1::InspectResult& m) {
  m.set_kind("public-key");
  fill_levels({{key.top.pair}}, m);
  m.set_hss_levels(key.levels);
  m.set_identifier(to_hex(key.top.identifier));
  m.set_public_key(to_hex(key.encode()));
}

void fill_cache(const CacheHead& cache, v1::InspectResult& m) {
  m.set_kind("cache");
  fill_levels({{cache.pair}}, m);
  m.set_hss_levels(0);  // not said there
  m.set_identifier(to_hex(cache.identifier));
  m.set_cache_depth(cache.depth);
}

// Walks a signature by its own codes; nothing where they lead nowhere.
bool fill_signature(ByteView data, v1::InspectResult& m) {
  if (data.size() < 8 || load_be32(data.data()) >= kMaxHssLevels) return false;
  const std::size_t levels = load_be32(data.data()) + 1;
  HssParams params;
  std::size_t at = 4;
  for (std::size_t i = 0; i < levels; ++i) {
    if (data.size() < at + 8) return false;
    const LmOtsParams* ots = find_lm_ots(load_be32(&data[at + 4]));
    if (ots == nullptr || data.size() < at + 8 + ots->signature_bytes()) return false;
    LmsPair pair;
    std::string problem;
    if (!make_pair(load_be32(&data[at + 4 + ots->signature_bytes()]), ots->type, pair, problem)) {
      return false;
    }
    m.add_leaf_numbers(load_be32(&data[at]));
    params.levels.push_back(pair);
    at += pair.signature_bytes();
    if (i + 1 < levels) {
      LmsPublicKey below;
      std::size_t used = 0;
      if (at > data.size() || !parse_lms_public_key(data.subspan(at), below, used).valid()) return false;
      at += used;
    }
  }
  if (at != data.size()) return false;
  m.set_kind("signature");
  fill_levels(params, m);
  return true;
}

bool starts_with(ByteView data, std::string_view magic) {
  return data.size() >= magic.size() && equal(data.first(magic.size()), as_bytes(magic));
}

std::string as_text(const v1::InspectResult& m) {
  std::string out = text_line("file", m.file()) + text_line("kind", m.kind());
  const auto line = [&out](const char* name, const std::string& value) {
    if (!value.empty()) out += text_line(name, value);
  };
  line("parameters", m.params());
  if (m.hss_levels() > 0) line("levels", std::to_string(m.hss_levels()));
  line("status", m.status());
  if (m.kind() == "private-key") {
    HssParams params = parse_hss_params(m.params());
    line("signatures", human_capacity(params));
    if (m.status() != "generating") {
      line("next index", human_count(m.next_index()));
      line("remaining", human_count(m.hss_keys_remaining()));
    }
    line("child seeds", params.levels.size() > 1 ? m.child_seeds() : "");
    line("cache rows", std::to_string(m.cache_depth()));
    if (m.insecure_seed()) line("WARNING", "made from a given seed; for known-answer runs only");
  }
  if (m.kind() == "cache") line("rows", std::to_string(m.cache_depth()));
  line("identifier", m.identifier());
  line("public key", m.public_key());
  for (int i = 0; i < m.leaf_numbers_size(); ++i) {
    line("leaf", fmt::format("{} at level {}", m.leaf_numbers(i), i));
  }
  line("bytes", std::to_string(m.bytes()));
  return out;
}

int run(const std::string& file, const CliContext& context) {
  const WipedBytes image(read_file(file));  // may be a private key
  const ByteView data = image.view();
  v1::InspectResult m;
  m.set_schema_version(kSchemaVersion);
  m.set_file(file);
  m.set_bytes(data.size());
  if (starts_with(data, "COPPICEK")) {
    fill_private(file, decode_key_file(data, file), m);
  } else if (starts_with(data, "COPPICEC")) {
    fill_cache(decode_cache_head(data, file), m);
  } else if (starts_with(data, "SQLite format 3")) {
    fail(Errc::usage, file + " is a ledger; inspect the .key file beside it to see the state");
  } else if (!fill_signature(data, m)) {
    m.clear_leaf_numbers();
    fill_public(decode_public_key(data, file), m);
  }
  print(context.common.format == Format::json ? json(m) : as_text(m));
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, CliContext& context) {
  auto file = std::make_shared<std::string>();
  CLI::App& verb = *app.add_subcommand("inspect", "Say what a key, public key, cache or signature is");
  verb.add_option("FILE", *file, "file to look at")->required();
  add_format(verb, context);
  add_logging(verb, context);
  verb.callback([file, &context] { context.run = [file, &context] { return run(*file, context); }; });
}

}  // namespace coppice
