// A private LMS/HSS key opened for signing: key file, cache and ledger together, checked and whole.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/hash/hash_many.hpp"
#include "core/lms/hss.hpp"
#include "node/executor.hpp"
#include "node/key_file.hpp"
#include "node/state_ledger.hpp"

namespace coppice {

// Grows whole trees on the threads of this process.
class ThreadedGrower final : public TreeGrower {
 public:
  ThreadedGrower(const HashMany& kernel, unsigned threads) : kernel_(kernel), executor_(threads) {}
  [[nodiscard]] TreeCache grow(const LmsPair& pair, const LmsTreeSecret& tree, unsigned depth) override;

 private:
  const HashMany& kernel_;
  Executor executor_;
};

class SigningKey {
 public:
  // Opens NAME.key and its companions and proves that they belong together. A missing cache is grown
  // again (`note` then says so) and written back; a damaged or foreign one is Errc::bad_data. A key that
  // is still generating, or whose ledger is missing, is refused.
  static SigningKey open(const std::filesystem::path& key_file, const HashMany& kernel,
                         unsigned threads, std::string& note);
  SigningKey(SigningKey&&) noexcept;
  ~SigningKey();

  [[nodiscard]] const HssKeyFile& key() const;
  [[nodiscard]] std::uint64_t remaining() const;

  // Hands out indices, durably used before this returns. Errc::unavailable when fewer remain.
  [[nodiscard]] IndexRange reserve(std::uint64_t count);
  // Signs with a reserved index and verifies the result against the public key before it returns it.
  [[nodiscard]] Bytes sign(std::uint64_t reserved_index, ByteView message);

 private:
  struct Impl;
  explicit SigningKey(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Parses just enough of NAME.key to choose a kernel. Errors as decode_key_file.
[[nodiscard]] HssKeyFile load_key_file(const std::filesystem::path& key_file);

}  // namespace coppice
