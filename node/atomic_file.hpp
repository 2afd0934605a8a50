// The one writer of files: whole or not at all, durable before it returns, private from the first moment.
#pragma once

#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/base/secret.hpp"

namespace coppice {

enum class FileMode { secret, open };         // 0600, or 0644 less the umask
enum class Overwrite { refuse, replace };     // refuse: Errc::exists when the name is taken

// Writes through a temporary file in the same folder, fsyncs it, links or renames it into place and
// fsyncs the folder. On any failure nothing appears under `path`, the old content stays and the
// temporary is removed. Errors name the path, the reason and the remedy (Errc::exists, io, permission).
void write_file(const std::filesystem::path& path, ByteView data, FileMode mode, Overwrite overwrite);

// The whole regular file, at most `limit` bytes. Errc::io when missing or unreadable, Errc::permission,
// Errc::bad_data when larger.
[[nodiscard]] Bytes read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{1} << 30);
[[nodiscard]] WipedBytes read_secret_file(const std::filesystem::path& path, std::size_t limit = 1 << 20);

// Makes the folder (0700, parents too) if missing and proves that a file can be written there.
void prepare_folder(const std::filesystem::path& folder);

// Makes the name of a file that is there durable: fsync of its folder.
void sync_name(const std::filesystem::path& path, const std::string& what);

// errno as an Error: ENOSPC, EDQUOT, EIO.. -> io, EACCES, EPERM, EROFS -> permission, EEXIST -> exists.
[[noreturn]] void fail_errno(int error, const std::string& what);

}  // namespace coppice
