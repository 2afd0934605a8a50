// The remembered kernel choice: made once, bound to machine and build, harmless when it fails.
#include "node/kernel_choice.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/error.hpp"
#include "core/hash/dispatch.hpp"
#include "node/atomic_file.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;
constexpr HashId kHashes[] = {HashId::sha256, HashId::shake256, HashId::sha512};

class KernelChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "coppice-kernels-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    ::setenv("HOME", home_.c_str(), 1);
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("COPPICE_KERNEL_CACHE");
  }
  void TearDown() override { fs::remove_all(home_); }

  [[nodiscard]] fs::path cache() const { return home_ / ".cache" / "coppice" / "kernels"; }
  static std::string text_of(const fs::path& file) {
    const Bytes data = read_file(file);
    return {data.begin(), data.end()};
  }
  static void put(const fs::path& file, const std::string& text) {
    prepare_folder(file.parent_path());
    write_file(file, as_bytes(text), FileMode::secret, Overwrite::replace);
  }

  fs::path home_;
};

TEST_F(KernelChoiceTest, PathFollowsTheEnvironment) {
  EXPECT_EQ(kernel_cache_path(), cache());
  ::setenv("XDG_CACHE_HOME", (home_ / "xdg").c_str(), 1);
  EXPECT_EQ(kernel_cache_path(), home_ / "xdg" / "coppice" / "kernels");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(kernel_cache_path(), cache());
  ::setenv("COPPICE_KERNEL_CACHE", "off", 1);
  EXPECT_TRUE(kernel_cache_path().empty());
  ::unsetenv("COPPICE_KERNEL_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_TRUE(kernel_cache_path().empty());
}

TEST_F(KernelChoiceTest, WritesOnePrivateFileForAllHashes) {
  for (const HashId hash : kHashes) {
    EXPECT_EQ(choose_kernel_with_cache(hash, cache()).hash, hash);
  }
  struct stat info {};
  ASSERT_EQ(::stat(cache().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const std::string text = text_of(cache());
  EXPECT_EQ(text.substr(0, text.find('\n')), kernel_cache_key());
  for (const HashId hash : kHashes) {
    if (kernels(hash).size() < 2) continue;
    EXPECT_NE(text.find("\n" + std::string(hash_name(hash)) + " "), std::string::npos) << text;
  }
}

TEST_F(KernelChoiceTest, BelievesAFileOfThisBuildAndNoOther) {
  if (kernels(HashId::sha256).size() < 2) GTEST_SKIP() << "one kernel";
  const std::string portable = "\nsha256 portable\n";
  put(cache(), kernel_cache_key() + portable);
  EXPECT_EQ(choose_kernel_with_cache(HashId::sha256, cache()).name, "portable");

  const std::string bad[] = {"",
                             "\n",
                             portable,
                             "another machine" + portable,
                             kernel_cache_key() + "\nsha256 no-such-kernel\n",
                             kernel_cache_key() + "\nsha256\n",
                             std::string(100, '\0'),
                             kernel_cache_key() + std::string(8192, 'x') + portable};
  for (const std::string& text : bad) {
    put(cache(), text);
    const HashMany& kernel = choose_kernel_with_cache(HashId::sha256, cache());
    EXPECT_EQ(kernel.hash, HashId::sha256);
    EXPECT_EQ(text_of(cache()), kernel_cache_key() + "\nsha256 " + std::string(kernel.name) + "\n");
  }
}

TEST_F(KernelChoiceTest, WorksWithoutAPlaceForTheFile) {
  put(home_ / "file", "not a folder");
  EXPECT_EQ(choose_kernel_with_cache(HashId::sha256, home_ / "file" / "kernels").hash,
            HashId::sha256);
  EXPECT_EQ(choose_kernel_with_cache(HashId::sha256, {}).hash, HashId::sha256);
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(KernelChoiceTest, ForcedNamesWinAndWrongOnesAreRefused) {
  for (const HashId hash : kHashes) {
    for (const HashMany* kernel : kernels(hash))
      EXPECT_EQ(&choose_kernel(hash, kernel->name), kernel);
    EXPECT_EQ(&choose_kernel(hash), &choose_kernel(hash));
  }
  EXPECT_THROW((void)choose_kernel(HashId::sha256, "mmx"), Error);
}

}  // namespace
}  // namespace coppice
