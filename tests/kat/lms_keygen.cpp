// Key generation: (SEED, I) -> LMS public key, in our own schema and in NIST's ACVP files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

namespace fs = std::filesystem;

void check_key(Run& run, const Case& c, const LmsPair& pair, const LmsTreeSecret& secret,
               const Bytes& expected) {
  run.run(c, {pair.lms->hash, pair.lms->h}, [&](const HashMany&, Check& check) {
    check.equal("public key", run.engine().public_key(pair, secret).encode(), expected);
  });
}

// ACVP files are an object, or a list of the protocol version and that object.
const Json* acvp_body(const Json& root) {
  if (root.is_array()) {
    for (const Json& part : root) {
      if (part.is_object() && part.contains("testGroups")) return &part;
    }
    return nullptr;
  }
  return root.is_object() && root.contains("testGroups") ? &root : nullptr;
}

bool is_prompt(const Json& body) {
  for (const Json& group : body.at("testGroups")) {
    if (!group.is_object() || !group.contains("tests") || !group.at("tests").is_array()) continue;
    for (const Json& test : group.at("tests")) {
      if (test.is_object() && test.contains("seed")) return true;
    }
  }
  return false;
}

// The other half of a prompt and expected-results pair, by the names that ACVP and our files use.
fs::path sibling_of(const fs::path& path, bool prompt) {
  const std::pair<const char*, const char*> names[] = {
      {"-prompt", "-expected"}, {"prompt", "expectedResults"}, {"prompt", "expected"}};
  for (const auto& [of_prompt, of_expected] : names) {
    const std::string from = prompt ? of_prompt : of_expected;
    const std::string to = prompt ? of_expected : of_prompt;
    std::string name = path.filename().string();
    const std::size_t at = name.rfind(from);
    if (at == std::string::npos) continue;
    const fs::path other = path.parent_path() / name.replace(at, from.size(), to);
    if (fs::exists(other)) return other;
  }
  fail(Errc::usage,
       path.string() + ": the file with the " + (prompt ? "expected results" : "prompt") +
           " of this ACVP file is not beside it (names end in -prompt and -expected, or "
           "are prompt.json and expectedResults.json)");
}

Json load(const fs::path& path) {
  std::ifstream in(path);
  const Json root = Json::parse(in, nullptr, false);
  if (root.is_discarded()) fail(Errc::usage, path.string() + ": not a JSON file");
  return root;
}

void require_lms_keygen(const Case& file) {
  if (file.text("algorithm") != "LMS") file.malformed("ACVP algorithm is not LMS");
  if (file.text("mode") != "keyGen") {
    file.malformed("ACVP mode is '" + file.text("mode") +
                   "'; only keyGen files hold what can be computed again");
  }
}

// tgId and tcId -> expected public key.
using Expected = std::map<std::pair<std::uint64_t, std::uint64_t>, Bytes>;

Expected read_expected(const Json& body, const std::string& file) {
  Expected keys;
  const Case whole(body, file, "(file)");
  for (const Json& g : whole.list("testGroups")) {
    const Case group(g, file, "(group)");
    for (const Json& t : group.list("tests")) {
      const Case unnamed(t, file, "(test)");
      const std::uint64_t id = unnamed.number("tcId");
      const Case test(t, file, "tcId " + std::to_string(id));
      keys[{group.number("tgId"), id}] = test.hex("publicKey");
    }
  }
  return keys;
}

LmsPair pair_by_name(const Case& group) {
  try {
    return parse_hss_params(group.text("lmsMode") + "/" + group.text("lmOtsMode")).levels.front();
  } catch (const Error& e) {
    group.malformed(e.what());
  }
}

}  // namespace

void run_lms_keygen(Run& run) {
  for_each_case(run, [&](const Case& c) {
    const LmsPair pair = c.pair(c.number("lms_type"), c.number("ots_type"));
    check_key(run, c, pair, c.secret("seed", "I"), c.hex("public_key"));
  });
}

bool is_acvp(const Json& root) {
  const Json* body = acvp_body(root);
  return body != nullptr && body->contains("algorithm") && body->at("testGroups").is_array();
}

void run_acvp(Run& run) {
  const Json& given = *acvp_body(run.root());
  require_lms_keygen(Case(given, run.path(), "(file)"));
  const bool prompt_given = is_prompt(given);
  const fs::path other_path = sibling_of(run.path(), prompt_given);
  const Json other_root = load(other_path);
  const Json* other = acvp_body(other_root);
  if (other == nullptr) fail(Errc::usage, other_path.string() + ": not an ACVP file");
  require_lms_keygen(Case(*other, other_path.string(), "(file)"));
  if (is_prompt(*other) == prompt_given) {
    fail(Errc::usage, other_path.string() + ": expected the other half of " + run.path());
  }

  const std::string here = fs::weakly_canonical(run.path()).string();
  if (std::ranges::find(run.seen(), here) != run.seen().end()) {
    run.say("its cases are counted with " + other_path.filename().string());
    return;
  }
  run.seen().push_back(fs::weakly_canonical(other_path).string());
  const std::string prompt_file = prompt_given ? run.path() : other_path.string();
  const std::string expected_file = prompt_given ? other_path.string() : run.path();
  Expected expected = read_expected(prompt_given ? *other : given, expected_file);
  const Case whole(prompt_given ? given : *other, prompt_file, "(file)");
  for (const Json& g : whole.list("testGroups")) {
    const Case group(g, prompt_file, "(group)");
    const std::uint64_t group_id = group.number("tgId");
    const LmsPair pair = pair_by_name(group);
    for (const Json& t : group.list("tests")) {
      const std::uint64_t id = Case(t, prompt_file, "(test)").number("tcId");
      const Case c(t, prompt_file, "tcId " + std::to_string(id));
      const auto key = expected.find({group_id, id});
      if (key == expected.end()) c.malformed("no expected result in " + expected_file);
      check_key(run, c, pair, c.secret("seed", "i"), key->second);
      expected.erase(key);
    }
  }
  if (!expected.empty()) {
    fail(Errc::usage, expected_file + ": tcId " + std::to_string(expected.begin()->first.second) +
                          " has no prompt in " + prompt_file);
  }
}

}  // namespace coppice::kat
