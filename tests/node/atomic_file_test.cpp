// Files appear whole, private and durable, or not at all.
#include "node/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;

Bytes text(const char* s) {
  const ByteView v = as_bytes(s);
  return {v.begin(), v.end()};
}

class Umask {
 public:
  explicit Umask(mode_t mask) : old_(::umask(mask)) {}
  ~Umask() { ::umask(old_); }

 private:
  mode_t old_;
};

// The soft limit on the size of files: writes first come back short, then fail with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    struct rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  struct rlimit old_ {};
};

TEST(AtomicFile, WritesAndReadsBack) {
  const TempFolder folder;
  for (const std::size_t size : {0U, 1U, 4096U, 3'000'001U}) {
    Bytes data(size);
    std::iota(data.begin(), data.end(), std::uint8_t{0});
    const fs::path path = folder.path() / ("f" + std::to_string(size));
    write_file(path, data, FileMode::open, Overwrite::refuse);
    EXPECT_EQ(read_file(path), data);
    EXPECT_TRUE(equal(read_secret_file(path, 1 << 24).view(), data));
  }
  EXPECT_EQ(folder.entries(), 4U);
}

TEST(AtomicFile, SecretIsPrivateWhateverTheUmask) {
  const TempFolder folder;
  const Umask none(0);
  write_file(folder.path() / "secret", text("s"), FileMode::secret, Overwrite::refuse);
  write_file(folder.path() / "open", text("o"), FileMode::open, Overwrite::refuse);
  EXPECT_EQ(mode_of(folder.path() / "secret"), 0600U);
  EXPECT_EQ(mode_of(folder.path() / "open"), 0644U);
  const Umask tight(077);
  write_file(folder.path() / "open2", text("o"), FileMode::open, Overwrite::refuse);
  EXPECT_EQ(mode_of(folder.path() / "open2"), 0600U);
}

TEST(AtomicFile, ReplacingASharedFileByASecretMakesItPrivate) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k";
  put(path, "public");
  ::chmod(path.c_str(), 0666);
  write_file(path, text("secret"), FileMode::secret, Overwrite::replace);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(get(path), text("secret"));
}

TEST(AtomicFile, RefusesToOverwrite) {
  const TempFolder folder;
  const fs::path path = folder.path() / "NAME.key";
  write_file(path, text("first"), FileMode::secret, Overwrite::refuse);
  const std::string what = error_of(
      Errc::exists, [&] { write_file(path, text("second"), FileMode::secret, Overwrite::refuse); });
  EXPECT_TRUE(
      contains(what, "NAME.key: already exists; choose another --name or --out, or use --force"))
      << what;
  EXPECT_EQ(get(path), text("first"));
  EXPECT_EQ(folder.entries(), 1U);
  // A dangling link takes the name as well: nothing is written through it.
  fs::create_symlink(folder.path() / "nowhere", folder.path() / "link");
  error_of(Errc::exists, [&] {
    write_file(folder.path() / "link", text("x"), FileMode::open, Overwrite::refuse);
  });
  EXPECT_FALSE(fs::exists(folder.path() / "nowhere"));
}

TEST(AtomicFile, ReplaceDoesNotWriteThroughALink) {
  const TempFolder folder;
  put(folder.path() / "victim", "victim");
  fs::create_symlink(folder.path() / "victim", folder.path() / "link");
  write_file(folder.path() / "link", text("new"), FileMode::open, Overwrite::replace);
  EXPECT_EQ(get(folder.path() / "victim"), text("victim"));
  EXPECT_FALSE(fs::is_symlink(folder.path() / "link"));
}

TEST(AtomicFile, OneWinnerAmongConcurrentWriters) {
  const TempFolder folder;
  for (int round = 0; round < 50; ++round) {
    const fs::path path = folder.path() / ("r" + std::to_string(round));
    std::atomic<int> won{0};
    std::atomic<int> winner{-1};
    std::vector<std::thread> team;
    for (int i = 0; i < 4; ++i) {
      team.emplace_back([&, i] {
        try {
          write_file(path, Bytes(100, static_cast<std::uint8_t>(i)), FileMode::secret,
                     Overwrite::refuse);
          ++won;
          winner = i;
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), Errc::exists) << e.what();
        }
      });
    }
    for (std::thread& t : team) t.join();
    ASSERT_EQ(won, 1);
    ASSERT_EQ(get(path), Bytes(100, static_cast<std::uint8_t>(winner.load())));
  }
  EXPECT_EQ(folder.entries(), 50U);
}

TEST(AtomicFile, FullDiskLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  const fs::path path = folder.path() / "data";
  write_file(path, text("old"), FileMode::open, Overwrite::refuse);
  {
    const FileSizeLimit limit(100'000);  // the write comes back short at first
    const std::string what = error_of(
        Errc::io, [&] { write_file(path, Bytes(300'000), FileMode::open, Overwrite::replace); });
    EXPECT_TRUE(contains(what, "cannot write '" + path.string() + "': File too large; ")) << what;
    error_of(Errc::io, [&] {
      write_file(folder.path() / "new", Bytes(300'000), FileMode::secret, Overwrite::refuse);
    });
  }
  EXPECT_EQ(get(path), text("old"));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, ErrnoMapping) {
  const std::string full = error_of(Errc::io, [] { fail_errno(ENOSPC, "cannot write '/x/y'"); });
  EXPECT_EQ(full, "cannot write '/x/y': No space left on device; free some space and run again");
  error_of(Errc::io, [] { fail_errno(EDQUOT, "x"); });
  error_of(Errc::io, [] { fail_errno(EIO, "x"); });
  error_of(Errc::permission, [] { fail_errno(EACCES, "x"); });
  error_of(Errc::permission, [] { fail_errno(EPERM, "x"); });
  error_of(Errc::permission, [] { fail_errno(EROFS, "x"); });
  error_of(Errc::exists, [] { fail_errno(EEXIST, "x"); });
}

TEST(AtomicFile, WritingToImpossiblePlaces) {
  const TempFolder folder;
  const Bytes data = text("x");
  error_of(Errc::io, [&] {
    write_file(folder.path() / "no" / "f", data, FileMode::open, Overwrite::refuse);
  });
  fs::create_directory(folder.path() / "sub");
  for (const Overwrite overwrite : {Overwrite::refuse, Overwrite::replace}) {
    error_of(Errc::exists,
             [&] { write_file(folder.path() / "sub", data, FileMode::open, overwrite); });
    error_of(Errc::io, [&] { write_file(folder.path() / "", data, FileMode::open, overwrite); });
    error_of(Errc::io, [&] { write_file("/dev/null/f", data, FileMode::open, overwrite); });
  }
  const std::string longest(255, 'n');
  write_file(folder.path() / longest, data, FileMode::open, Overwrite::refuse);
  EXPECT_EQ(get(folder.path() / longest), data);
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(AtomicFile, PermissionDenied) {
  const TempFolder folder;
  put(folder.path() / "f", "x");
  ::chmod((folder.path() / "f").c_str(), 0);
  ::chmod(folder.path().c_str(), 0500);
  give_to_nobody(folder.path());
  give_to_nobody(folder.path() / "f");
  const pid_t child = spawn([&] {
    if (!become_nobody()) return 99;
    const auto refused = [](auto&& call) {
      try {
        call();
      } catch (const Error& e) {
        return e.code() == Errc::permission;
      }
      return false;
    };
    const fs::path other = folder.path() / "g";
    return refused([&] { write_file(other, text("x"), FileMode::open, Overwrite::refuse); }) &&
                   refused([&] { (void)read_file(folder.path() / "f"); })
               ? 0
               : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  ::chmod(folder.path().c_str(), 0700);
}

TEST(ReadFile, RefusesWhatIsNoPlainFile) {
  const TempFolder folder;
  const std::string missing =
      error_of(Errc::io, [&] { (void)read_file(folder.path() / "missing"); });
  EXPECT_TRUE(contains(missing, "missing': No such file")) << missing;
  error_of(Errc::io, [&] { (void)read_file(folder.path()); });
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  error_of(Errc::io,
           [&] { (void)read_file(folder.path() / "fifo"); });  // and does not wait for a writer
  error_of(Errc::io, [] { (void)read_file("/dev/zero"); });
}

TEST(ReadFile, Limit) {
  const TempFolder folder;
  put(folder.path() / "f", std::string(100, 'x'));
  EXPECT_EQ(read_file(folder.path() / "f", 100).size(), 100U);
  error_of(Errc::bad_data, [&] { (void)read_file(folder.path() / "f", 99); });
  error_of(Errc::bad_data, [&] { (void)read_secret_file(folder.path() / "f", 99); });
  // Files of /proc say 0 bytes and have more.
  EXPECT_GT(read_file("/proc/self/status").size(), 100U);
  error_of(Errc::bad_data, [] { (void)read_file("/proc/self/status", 10); });
}

TEST(PrepareFolder, MakesPrivateFoldersAndProvesThem) {
  const TempFolder folder;
  const Umask none(0);
  prepare_folder(folder.path() / "a" / "b" / "c");
  for (const char* made : {"a", "a/b", "a/b/c"}) EXPECT_EQ(mode_of(folder.path() / made), 0700U);
  EXPECT_TRUE(fs::is_empty(folder.path() / "a/b/c"));
  prepare_folder(folder.path() / "a" / "b" / "");  // existing, trailing slash
  prepare_folder(folder.path());
  put(folder.path() / "file", "x");
  const std::string what =
      error_of(Errc::exists, [&] { prepare_folder(folder.path() / "file" / "x"); });
  EXPECT_TRUE(contains(what, "not a folder")) << what;
  error_of(Errc::exists, [&] { prepare_folder(folder.path() / "file"); });
  fs::create_symlink(folder.path() / "nowhere", folder.path() / "dangling");
  error_of(Errc::io, [&] { prepare_folder(folder.path() / "dangling"); });
}

}  // namespace
}  // namespace coppice
