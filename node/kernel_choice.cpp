// The fastest kernel of this machine, measured once and remembered. Contract: kernel_choice.hpp.
//
// The file: line 1 is kernel_cache_key(), each further line "<hash> <kernel>".
#include "node/kernel_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/hash/dispatch.hpp"
#include "core/hash/kernel_speed.hpp"
#include "node/atomic_file.hpp"

namespace coppice {
namespace {

constexpr std::size_t kMaxCacheFile = 4096;
constexpr std::string_view kForm = "coppice-kernels-1";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// x86 has "model name"; Arm "CPU implementer" and "CPU part".
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  std::string model;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    for (const std::string_view wanted :
         {"vendor_id", "cpu family", "model", "stepping", "CPU implementer", "CPU part"}) {
      if (std::string_view(line).substr(0, wanted.size()) != wanted) continue;
      if (!model.empty()) model += ' ';
      model += line.substr(std::min(colon + 2, line.size()));
      break;
    }
  }
  return model;
}

// The names in a file whose key fits, by hash name; empty for any other file.
std::map<std::string, std::string, std::less<>> read_cache(const std::filesystem::path& cache) {
  std::map<std::string, std::string, std::less<>> names;
  try {
    const Bytes data = read_file(cache, kMaxCacheFile);
    std::string_view rest(reinterpret_cast<const char*>(data.data()), data.size());
    bool first = true;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (first && line != kernel_cache_key()) return {};
      first = false;
      const std::size_t space = line.find(' ');
      if (space != std::string_view::npos)
        names[std::string(line.substr(0, space))] = line.substr(space + 1);
    }
  } catch (const std::exception&) {
    return {};
  }
  return names;
}

void write_cache(const std::filesystem::path& cache,
                 const std::map<std::string, std::string, std::less<>>& names) noexcept {
  try {
    std::string text = kernel_cache_key() + "\n";
    for (const auto& [hash, kernel] : names) {
      if (hash != kForm) text += hash + " " + kernel + "\n";
    }
    prepare_folder(cache.parent_path());
    write_file(cache, as_bytes(text), FileMode::secret, Overwrite::replace);
  } catch (const std::exception&) {  // a full, read-only or foreign home: measure again next time
  }
}

const HashMany* named(HashId hash, std::string_view name) {
  for (const HashMany* k : kernels(hash)) {
    if (k->name == name) return k;
  }
  return nullptr;
}

}  // namespace

std::string kernel_cache_key() {
  // The time of compiling stands for the build: the object is rebuilt when its flags change, and a
  // stale choice costs speed alone.
  return std::string(kForm) + " | " + cpu_model() + " | " + cpu_features() + " | " + kVersion +
         " | " + __VERSION__ + " | " __DATE__ " " __TIME__;
}

std::filesystem::path kernel_cache_path() {
  if (environment("COPPICE_KERNEL_CACHE") == "off") return {};
  std::filesystem::path folder = environment("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {  // relative ones are to be ignored: XDG Base Directory Specification
    const std::filesystem::path home = environment("HOME");
    if (!home.is_absolute()) return {};
    folder = home / ".cache";
  }
  return folder / "coppice" / "kernels";
}

const HashMany& choose_kernel_with_cache(HashId hash, const std::filesystem::path& cache) {
  if (kernels(hash).size() == 1) return *kernels(hash).front();
  if (cache.empty()) return fastest_kernel(hash);
  auto names = read_cache(cache);
  if (const auto known = names.find(hash_name(hash)); known != names.end()) {
    if (const HashMany* kernel = named(hash, known->second)) return *kernel;
  }
  const HashMany& kernel = fastest_kernel(hash);
  names[std::string(hash_name(hash))] = kernel.name;
  write_cache(cache, names);
  return kernel;
}

const HashMany& choose_kernel(HashId hash, std::string_view forced) {
  if (!forced.empty()) return select_kernel(hash, forced);
  static std::mutex guard;
  static std::map<HashId, const HashMany*> chosen;
  const std::lock_guard lock(guard);
  const HashMany*& kernel = chosen[hash];
  if (kernel == nullptr) kernel = &choose_kernel_with_cache(hash, kernel_cache_path());
  return *kernel;
}

}  // namespace coppice
