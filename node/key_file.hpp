// NAME.key, NAME.pub, NAME.cache of LMS and HSS keys: layouts, reading, writing. docs/formats.md.
#pragma once

#include <array>
#include <filesystem>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/lms/hss.hpp"
#include "core/lms/lms_params.hpp"
#include "core/merkle/tree_cache.hpp"
#include "node/atomic_file.hpp"

namespace coppice {

using KeyId = std::array<std::uint8_t, 16>;  // random; ties key, cache and ledger together

enum class ChildSeeds : std::uint32_t { derived = 0, independent = 1 };

// The private key of an LMS/HSS key, without state. Immutable once complete.
struct HssKeyFile {
  bool complete = false;  // false: key generation has started and not finished ("generating")
  bool insecure_seed = false;  // made with --insecure-seed: a known-answer run
  ChildSeeds child_seeds = ChildSeeds::derived;
  std::uint32_t cache_depth = 0;  // rows of NAME.cache below the root
  std::uint64_t created = 0;      // seconds since 1970
  KeyId id{};
  HssParams params;
  LmsTreeSecret top;
  std::array<std::uint8_t, kMaxNode> root{};  // T[1], zero while generating

  [[nodiscard]] HssPublicKey public_key() const;
};

// Layout: fixed size, big-endian, SHA-256 over everything before it at the end, so that any changed
// byte is found. decode: Errc::bad_data naming `name`, for damage, another magic, an unknown version.
[[nodiscard]] WipedBytes encode_key_file(const HssKeyFile& key);
[[nodiscard]] HssKeyFile decode_key_file(ByteView file, const std::string& name);

// NAME.cache: magic, key id, shape, rows of the top tree in heap order, SHA-256. decode checks length,
// checksum and that it belongs to `key`; the caller proves the nodes (TreeCache::first_inconsistent).
[[nodiscard]] Bytes encode_cache_file(const HssKeyFile& key, const TreeCache& cache);
struct CacheHead {
  LmsPair pair;
  std::uint32_t depth = 0;
  KeyId id{};
  std::array<std::uint8_t, kIdentifierBytes> identifier{};
};
[[nodiscard]] CacheHead decode_cache_head(ByteView file, const std::string& name);  // checks the sum
[[nodiscard]] TreeCache decode_cache_file(ByteView file, const HssKeyFile& key, const std::string& name);

// The files of one key: FOLDER/NAME.key and its companions.
struct KeyPaths {
  std::filesystem::path key, pub, cache, state;
  std::filesystem::path progress;  // while the key is growing
  [[nodiscard]] static KeyPaths in(const std::filesystem::path& folder, const std::string& name);
  [[nodiscard]] static KeyPaths of_key(const std::filesystem::path& key_file);  // NAME.key -> the rest
};

enum class PublicForm { raw, pem, der };
// raw: HSS public key bytes; pem, der: SubjectPublicKeyInfo.
[[nodiscard]] Bytes encode_public_key(const HssPublicKey& key, PublicForm form);
// Any of the three forms. Errc::bad_data naming `name`.
[[nodiscard]] HssPublicKey decode_public_key(ByteView file, const std::string& name);

}  // namespace coppice
