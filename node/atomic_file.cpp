// The one writer of files: temporary, fsync, rename, fsync of the folder. POSIX.1-2017.
#include "node/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/encode/hex.hpp"
#include "core/sys/random.hpp"

namespace coppice {
namespace {

constexpr mode_t kSecretMode = 0600;
constexpr mode_t kOpenMode = 0644;
constexpr mode_t kFolderMode = 0700;

std::string quoted(const std::filesystem::path& path) {
  std::string text(1, '\'');  // GCC 12 warns of an overlap in "'" + string that is not there
  text += path.string();
  text += '\'';
  return text;
}
std::string cannot_write(const std::filesystem::path& path) {
  return "cannot write " + quoted(path);
}

// A descriptor that closes itself. close() is for writers: some file systems report a full disk
// there.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int close() noexcept {
    const int fd = fd_;
    fd_ = -1;
    // After EINTR the descriptor is gone on Linux; a second close could hit somebody else's.
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

// A temporary in `folder`, unlinked unless it was put in place. The name is short and independent
// of the target's, so that a target with the longest possible name can be written too.
class Temporary {
 public:
  Temporary(int folder, mode_t mode, const std::string& what) : folder_(folder), fd_(-1) {
    constexpr int kTries = 16;
    for (int attempt = 0; attempt < kTries && fd_ < 0; ++attempt) {
      std::array<std::uint8_t, 8> random{};
      random_private_bytes(random);
      name_ = ".coppice-" + to_hex(random) + ".tmp";
      fd_ = ::openat(folder, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                     mode);
      if (fd_ < 0 && errno != EEXIST && errno != EINTR) fail_errno(errno, what);
    }
    if (fd_ < 0) fail(Errc::io, what + ": no free name for a temporary file");
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (fd_ >= 0) ::close(fd_);
    if (!placed_) ::unlinkat(folder_, name_.c_str(), 0);
  }

  void write(ByteView data, const std::string& what) {
    while (!data.empty()) {
      // Linux moves at most 0x7ffff000 bytes a call; a short count is no error.
      const ssize_t n = ::write(fd_, data.data(), std::min(data.size(), std::size_t{1} << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(errno, what);
      data = data.subspan(static_cast<std::size_t>(n));
    }
  }
  void finish(const std::string& what) {
    while (::fsync(fd_) != 0) {
      if (errno != EINTR) fail_errno(errno, what);
    }
    Descriptor fd(fd_);
    fd_ = -1;
    if (const int error = fd.close(); error != 0) fail_errno(error, what);
  }
  // 0 or errno.
  [[nodiscard]] int place(const std::string& target, Overwrite overwrite) {
    if (overwrite == Overwrite::replace) {
      placed_ = ::renameat(folder_, name_.c_str(), folder_, target.c_str()) == 0;
      return placed_ ? 0 : errno;
    }
    placed_ = ::renameat2(folder_, name_.c_str(), folder_, target.c_str(), RENAME_NOREPLACE) == 0;
    if (placed_) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    // A file system without RENAME_NOREPLACE: link() does not overwrite either. The destructor
    // removes the temporary name.
    return ::linkat(folder_, name_.c_str(), folder_, target.c_str(), 0) == 0 ? 0 : errno;
  }

 private:
  int folder_;
  int fd_;
  std::string name_;
  bool placed_ = false;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// 0 or errno. Some file systems cannot sync a folder and say EINVAL: their renames are all there
// is.
int sync_folder(int folder) {
  while (::fsync(folder) != 0) {
    if (errno != EINTR) return errno == EINVAL || errno == EROFS ? 0 : errno;
  }
  return 0;
}

// Bytes that are wiped when reading fails half-way.
struct PartlyRead {
  Bytes bytes;
  PartlyRead() = default;
  PartlyRead(const PartlyRead&) = delete;
  PartlyRead& operator=(const PartlyRead&) = delete;
  ~PartlyRead() {
    if (!bytes.empty()) wipe(bytes.data(), bytes.size());
  }
  // Growth never leaves an unwiped copy behind.
  void grow(std::size_t size) {
    Bytes larger(size);
    std::copy(bytes.begin(), bytes.end(), larger.begin());
    bytes.swap(larger);
    if (!larger.empty()) wipe(larger.data(), larger.size());
  }
};

[[noreturn]] void fail_too_large(const std::filesystem::path& path, std::size_t limit) {
  fail(Errc::bad_data, path.string() + ": larger than the " + std::to_string(limit) +
                           " bytes that such a file can have");
}

Bytes read_all(const std::filesystem::path& path, std::size_t limit) {
  const std::string what = "cannot read " + quoted(path);
  // O_NONBLOCK: a FIFO must be refused below, not waited for.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) fail_errno(errno, what);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) fail_errno(errno, what);
  if (!S_ISREG(info.st_mode)) fail(Errc::io, what + ": it is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit) fail_too_large(path, limit);

  PartlyRead data;
  data.bytes.resize(static_cast<std::size_t>(size));
  std::size_t have = 0;
  for (;;) {
    std::uint8_t beyond =
        0;  // one byte more than expected, to notice files that grow or lie about size
    const bool full = have == data.bytes.size();
    const ssize_t n = full ? ::read(fd.get(), &beyond, 1)
                           : ::read(fd.get(), data.bytes.data() + have,
                                    std::min(data.bytes.size() - have, std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(errno, what);
    if (n == 0) break;
    if (full) {
      if (have >= limit) fail_too_large(path, limit);
      data.grow(std::min(limit, std::max<std::size_t>(4096, 2 * have)));
      data.bytes[have] = beyond;
    }
    have += static_cast<std::size_t>(n);
  }
  if (have < data.bytes.size()) wipe(data.bytes.data() + have, data.bytes.size() - have);
  data.bytes.resize(have);
  return std::move(data.bytes);
}

std::string remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space and run again";
    case EFBIG:
      return "the file size limit is too low (ulimit -f)";
    case EACCES:
    case EPERM:
      return "check the owner and mode of the file and its folder";
    case EROFS:
      return "choose a folder on a writable file system";
    case ENOENT:
      return "check the path";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case EIO:
      return "check the disk";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return {};
  }
}

}  // namespace

void fail_errno(int error, const std::string& what) {
  if (error == EEXIST) {
    fail(Errc::exists, what + ": already exists; choose another --name or --out, or use --force");
  }
  const bool permission = error == EACCES || error == EPERM || error == EROFS;
  const std::string hint = remedy(error);
  fail(permission ? Errc::permission : Errc::io,
       what + ": " + std::generic_category().message(error) + (hint.empty() ? "" : "; " + hint));
}

void write_file(const std::filesystem::path& path, ByteView data, FileMode mode,
                Overwrite overwrite) {
  const std::string what = cannot_write(path);
  const std::string target = path.filename().string();
  if (target.empty() || target == "." || target == "..")
    fail(Errc::io, what + ": it names no file");
  const Descriptor folder(open_folder(folder_of(path)));
  if (folder.get() < 0) fail_errno(errno, what);

  struct stat old {};
  const bool taken = ::fstatat(folder.get(), target.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (taken && S_ISDIR(old.st_mode)) fail(Errc::exists, what + ": a folder of this name exists");
  // Known before anything is written; place() decides again, atomically.
  if (taken && overwrite == Overwrite::refuse) fail_errno(EEXIST, path.string());

  Temporary temporary(folder.get(), mode == FileMode::secret ? kSecretMode : kOpenMode, what);
  temporary.write(data, what);
  temporary.finish(what);
  if (const int error = temporary.place(target, overwrite); error != 0) {
    fail_errno(error, error == EEXIST ? path.string() : what);
  }
  if (const int error = sync_folder(folder.get()); error != 0) {
    // A replaced file cannot be brought back; a new one can be taken away again.
    if (overwrite == Overwrite::refuse) ::unlinkat(folder.get(), target.c_str(), 0);
    fail_errno(error, what);
  }
}

Bytes read_file(const std::filesystem::path& path, std::size_t limit) {
  return read_all(path, limit);
}

WipedBytes read_secret_file(const std::filesystem::path& path, std::size_t limit) {
  return WipedBytes(read_all(path, limit));
}

void sync_name(const std::filesystem::path& path, const std::string& what) {
  const Descriptor folder(open_folder(folder_of(path)));
  if (folder.get() < 0) fail_errno(errno, what);
  if (const int error = sync_folder(folder.get()); error != 0) fail_errno(error, what);
}

void prepare_folder(const std::filesystem::path& folder) {
  const std::filesystem::path wanted = folder.empty() ? std::filesystem::path(".") : folder;
  const std::string what = "cannot make the folder " + quoted(wanted);
  std::filesystem::path at;
  for (const std::filesystem::path& part : wanted) {
    const std::filesystem::path parent = at.empty() ? std::filesystem::path(".") : at;
    at /= part;
    if (::mkdir(at.c_str(), kFolderMode) == 0) {
      // The new folder's own entry has to last as long as the keys in it.
      const Descriptor above(open_folder(parent));
      if (above.get() >= 0) (void)sync_folder(above.get());
    } else {
      const int error = errno;  // mkdir reports EROFS, EACCES, even EISDIR for folders that exist
      struct stat info {};
      if (::stat(at.c_str(), &info) != 0) fail_errno(error == EEXIST ? ENOENT : error, what);
      if (!S_ISDIR(info.st_mode)) {
        fail(Errc::exists,
             what + ": " + quoted(at) + " exists and is not a folder; choose another --out");
      }
    }
  }
  const std::string probe = "cannot write into the folder " + quoted(wanted);
  const Descriptor fd(open_folder(wanted));
  if (fd.get() < 0) fail_errno(errno, probe);
  Temporary temporary(fd.get(), kSecretMode, probe);
  temporary.write(as_bytes("x"), probe);
  temporary.finish(probe);
}

}  // namespace coppice
