// A folder that lives as long as a test, and what is common to the tests of the node tier.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"

namespace coppice::test {

namespace fs = std::filesystem;

class TempFolder {
 public:
  explicit TempFolder(const fs::path& base = fs::temp_directory_path()) {
    std::string name = (base / "coppice-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_;
};

inline mode_t mode_of(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

// Plain writing, for fixtures only.
inline void put(const fs::path& path, ByteView data) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
}
inline void put(const fs::path& path, const std::string& text) { put(path, as_bytes(text)); }
inline Bytes get(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The Error of a call, checked for its code, as text.
template <class Call>
std::string error_of(Errc expected, Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(expected)) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error; code " << static_cast<int>(expected) << " was expected";
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// Runs `call` in a child process; what it returns is the exit code, 96 when it throws.
template <class Call>
pid_t spawn(Call&& call) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 96;
  try {
    code = call();
  } catch (...) {
  }
  ::_exit(code);
}

// The exit code of a child, 128 + signal for a killed one.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// root may do everything: a child that tests permissions becomes somebody else, who owns the files.
inline constexpr uid_t kNobody = 65534;
inline void give_to_nobody(const fs::path& path) {
  if (::geteuid() != 0) return;
  EXPECT_EQ(::chown(path.c_str(), kNobody, kNobody), 0) << path;
}
inline bool become_nobody() { return ::geteuid() != 0 || ::seteuid(kNobody) == 0; }

// Numbers from children to the test; writes of 8 bytes are atomic.
class NumberPipe {
 public:
  NumberPipe() {
    if (::pipe(fds_) != 0) throw std::runtime_error("pipe");
  }
  NumberPipe(const NumberPipe&) = delete;
  NumberPipe& operator=(const NumberPipe&) = delete;
  ~NumberPipe() {
    ::close(fds_[0]);
    end_writing();
  }
  void send(std::uint64_t value) {
    if (::write(fds_[1], &value, sizeof value) != sizeof value) ::_exit(98);
  }
  [[nodiscard]] int reader() const { return fds_[0]; }
  // Everything until the last child has gone.
  [[nodiscard]] std::vector<std::uint64_t> drain() {
    end_writing();
    std::vector<std::uint64_t> all;
    std::uint64_t value = 0;
    for (;;) {
      const ssize_t n = ::read(fds_[0], &value, sizeof value);
      if (n < 0 && errno == EINTR) continue;
      if (n != sizeof value) return all;
      all.push_back(value);
    }
  }

 private:
  void end_writing() {
    if (fds_[1] >= 0) ::close(fds_[1]);
    fds_[1] = -1;
  }
  int fds_[2];
};

}  // namespace coppice::test
