// coppice-kat: runs files of known answers through the product's code. See --help.
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kat/schemas.hpp"

namespace coppice::kat {
namespace {

constexpr const char* kHelp =
    "usage: coppice-kat [--max-height H] [--threads T] [--kernel NAME] FILE...\n"
    "\n"
    "Runs known-answer files (JSON); the kind of a file is found from its content. An ACVP prompt "
    "finds\n"
    "its expected results beside it, and the other way round.\n"
    "\n"
    "  --max-height H  skip cases that grow a tree higher than this (default 20)\n"
    "  --threads T     threads (default: all CPUs in the affinity mask)\n"
    "  --kernel NAME   use this kernel; cases of a hash without it are skipped\n"
    "\n"
    "The last line is 'N passed, M failed'. Exit codes: 0 all executed cases passed, 1 a case "
    "failed or\n"
    "none was executed, 2 a file or an option cannot be used.\n";

struct Options {
  unsigned max_height = 20;
  unsigned threads = cpus_of_this_process();
  std::string kernel;
  std::vector<std::string> files;
  bool help = false;
};

unsigned number(std::string_view option, std::string_view text, unsigned least) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > 1024) {
    fail(Errc::usage, std::string(option) + ": '" + std::string(text) + "' is not a number from " +
                          std::to_string(least) + " to 1024");
  }
  return value;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      options.help = true;
      continue;
    }
    if (!arg.starts_with("--")) {
      options.files.emplace_back(arg);
      continue;
    }
    std::string_view value;
    const std::size_t equals = arg.find('=');
    if (equals != arg.npos) {
      value = arg.substr(equals + 1);
      arg = arg.substr(0, equals);
    } else if (i + 1 < argc) {
      value = argv[++i];
    } else {
      fail(Errc::usage,
           "option " + std::string(arg) + " is unknown or lacks its value; see --help");
    }
    if (arg == "--max-height") {
      options.max_height = number(arg, value, 0);
    } else if (arg == "--threads") {
      options.threads = number(arg, value, 1);
    } else if (arg == "--kernel") {
      options.kernel = value;
    } else {
      fail(Errc::usage, "unknown option " + std::string(arg) + "; see --help");
    }
  }
  if (options.files.empty() && !options.help) fail(Errc::usage, "no files given; see --help");
  return options;
}

Json load(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail(Errc::usage, path + ": cannot be read");
  Json root = Json::parse(in, nullptr, false);
  if (root.is_discarded()) fail(Errc::usage, path + ": not a JSON file");
  return root;
}

const Schema& schema_of(const Json& root, const std::string& path) {
  for (const Schema& schema : schemas()) {
    if (schema.detect(root)) return schema;
  }
  std::string names;
  for (const Schema& schema : schemas()) {
    if (!names.empty()) names += ", ";
    names += schema.name;
  }
  fail(Errc::usage, path + ": unknown schema; known are: " + names);
}

void run_file(const Engine& engine, const std::string& path, std::vector<std::string>& seen,
              Counts& total) {
  const Json root = load(path);
  const Schema& schema = schema_of(root, path);
  Run run(engine, path, root, seen);
  const auto add = [&] {
    total.passed += run.counts().passed;
    total.failed += run.counts().failed;
    total.skipped += run.counts().skipped;
  };
  try {
    schema.run(run);
  } catch (...) {
    add();
    throw;
  }
  add();
  std::string line = path + ": " + schema.name + ", " + std::to_string(run.counts().passed) +
                     " cases passed, " + std::to_string(run.counts().failed) + " failed";
  if (run.counts().skipped != 0) line += ", " + std::to_string(run.counts().skipped) + " skipped";
  if (!run.remark().empty()) line += " (" + run.remark() + ")";
  std::printf("%s\n", line.c_str());
}

int run_all(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  if (options.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const Engine engine(options.threads, options.max_height, options.kernel);
  Counts total;
  std::vector<std::string> seen;
  bool unusable = false;
  for (const std::string& path : options.files) {
    try {
      run_file(engine, path, seen, total);
    } catch (const Error& e) {
      std::fflush(stdout);
      std::fprintf(stderr, "coppice-kat: %s\n", e.what());
      unusable = true;
    }
  }
  if (total.passed + total.failed == 0) {
    std::fprintf(stderr, "coppice-kat: no case was executed\n");
  }
  std::printf("%zu passed, %zu failed\n", total.passed, total.failed);
  if (unusable) return 2;
  return total.failed == 0 && total.passed != 0 ? 0 : 1;
}

}  // namespace
}  // namespace coppice::kat

int main(int argc, char** argv) {
  try {
    return coppice::kat::run_all(argc, argv);
  } catch (const coppice::Error& e) {
    std::fprintf(stderr, "coppice-kat: %s\n", e.what());
    return e.exit_code();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "coppice-kat: %s\n", e.what());
    return 70;
  }
}
