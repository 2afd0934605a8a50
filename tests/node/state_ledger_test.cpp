// The ledger under concurrency, kills, damage and misuse: an index is handed out once, ever.
#include "node/state_ledger.hpp"

#include <poll.h>
#include <sqlite3.h>

#include <array>
#include <atomic>
#include <csignal>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "core/sys/random.hpp"
#include "node/atomic_file.hpp"
#include "tests/node/node_support.hpp"

namespace coppice {
namespace {

using namespace test;

KeyId key_id(std::uint8_t fill) {
  KeyId id{};
  id.fill(fill);
  return id;
}
const KeyId kKey = key_id(0x5a);

// Damage does not depend on the disk, and syncing is what costs: memory where the system has it.
fs::path fast_base() {
  return fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
}

void sql(const fs::path& path, const std::string& text) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(StateLedger, HandsOutEveryIndexOnce) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 10);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(folder.entries(), 1U);
  {
    StateLedger ledger = StateLedger::open(path, kKey, 10);
    EXPECT_EQ(ledger.next(), 0U);
    EXPECT_EQ(ledger.capacity(), 10U);
    const IndexRange one = ledger.reserve(1);
    EXPECT_EQ(one.first, 0U);
    EXPECT_EQ(one.last, 1U);
    const IndexRange many = ledger.reserve(6);
    EXPECT_EQ(many.first, 1U);
    EXPECT_EQ(many.last, 7U);
    EXPECT_EQ(ledger.remaining(), 3U);
  }
  StateLedger again = StateLedger::open(path, kKey, 10);
  EXPECT_EQ(again.next(), 7U);
  const std::string what = error_of(Errc::unavailable, [&] { (void)again.reserve(4); });
  EXPECT_TRUE(contains(what, "key is exhausted: 3 of 10 signatures remain, 4 asked for")) << what;
  EXPECT_EQ(again.next(), 7U);
  error_of(Errc::usage, [&] { (void)again.reserve(0); });
  error_of(Errc::unavailable, [&] { (void)again.reserve(~std::uint64_t{0}); });
  EXPECT_EQ(again.reserve(3).last, 10U);
  error_of(Errc::unavailable, [&] { (void)again.reserve(1); });
  EXPECT_EQ(again.next(), 10U);
  EXPECT_EQ(mode_of(path), 0600U);
}

TEST(StateLedger, LargestCapacity) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  StateLedger::create(path, kKey, kAll);
  StateLedger ledger = StateLedger::open(path, kKey, kAll);
  EXPECT_EQ(ledger.reserve(kAll - 1).last, kAll - 1);
  EXPECT_EQ(StateLedger::open(path, kKey, kAll).next(), kAll - 1);
  error_of(Errc::unavailable, [&] { (void)ledger.reserve(2); });
  EXPECT_EQ(ledger.reserve(1).last, kAll);
  error_of(Errc::unavailable, [&] { (void)ledger.reserve(1); });
  EXPECT_EQ(ledger.remaining(), 0U);
}

TEST(StateLedger, CreateNeverOverwrites) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 10);
  (void)StateLedger::open(path, kKey, 10).reserve(5);
  const std::string what = error_of(Errc::exists, [&] { StateLedger::create(path, kKey, 10); });
  EXPECT_TRUE(contains(what, "never overwritten")) << what;
  EXPECT_EQ(StateLedger::open(path, kKey, 10).next(), 5U);
  fs::remove(path);
  put(folder.path() / "k.state-journal", "left over");
  error_of(Errc::exists, [&] { StateLedger::create(path, kKey, 10); });
  EXPECT_FALSE(fs::exists(path));
}

TEST(StateLedger, JournalIsPrivateToo) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  const mode_t old = ::umask(0);
  StateLedger::create(path, kKey, 10);
  EXPECT_EQ(mode_of(path), 0600U);
  // A transaction that is still open has its journal on disk.
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE; UPDATE state SET one=1;", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(mode_of(folder.path() / "k.state-journal"), 0600U);
  sqlite3_close(db);
  ::umask(old);
}

TEST(StateLedger, RefusesWhatIsNotItsFile) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  const auto open = [&] { (void)StateLedger::open(path, kKey, 32); };
  EXPECT_TRUE(contains(error_of(Errc::io, open), "No such file"));
  EXPECT_FALSE(fs::exists(path));  // and has not made one
  put(path, "");
  EXPECT_TRUE(contains(error_of(Errc::bad_data, open), "it is empty"));
  put(path, std::string(5000, 'x'));
  error_of(Errc::bad_data, open);
  fs::remove(path);
  sql(path, "CREATE TABLE state(x)");
  EXPECT_TRUE(contains(error_of(Errc::bad_data, open), "another program"));
  fs::remove(path);
  fs::create_directory(path);
  error_of(Errc::bad_data, open);
  fs::remove(path);

  StateLedger::create(folder.path() / "other.state", key_id(1), 32);
  fs::create_symlink(folder.path() / "other.state", path);
  EXPECT_TRUE(contains(error_of(Errc::bad_data, open), "belongs to another key"));
  fs::remove(path);
  StateLedger::create(path, kKey, 64);
  EXPECT_TRUE(contains(error_of(Errc::bad_data, open), "it is for 64 signatures, the key for 32"));
  fs::remove(path);
  StateLedger::create(path, kKey, 32);
  fs::create_hard_link(path, folder.path() / "second");
  EXPECT_TRUE(contains(error_of(Errc::bad_data, open), "2 names (hard links)"));
  fs::remove(folder.path() / "second");
  open();
}

TEST(StateLedger, TruncationIsFound) {
  const TempFolder folder(fast_base());
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  (void)StateLedger::open(path, kKey, 32).reserve(7);
  const Bytes good = get(path);
  for (std::size_t size = 0; size < good.size(); size += 128) {
    put(path, ByteView(good).first(size));
    error_of(Errc::bad_data, [&] { (void)StateLedger::open(path, kKey, 32).reserve(1); });
  }
}

// Rows with a right shape and wrong content, and changes to the schema.
TEST(StateLedger, TamperedRowsAreFound) {
  const TempFolder folder(fast_base());
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  (void)StateLedger::open(path, kKey, 32).reserve(7);
  const Bytes good = get(path);
  for (const char* change :
       {"UPDATE state SET next=x'0000000000000006'", "UPDATE state SET next=x'0000000000000008'",
        "UPDATE state SET next=x'06'", "UPDATE state SET next=6", "UPDATE state SET next=''",
        "UPDATE state SET capacity=x'0000000000000040'", "UPDATE state SET checksum=zeroblob(32)",
        "UPDATE state SET children=x'0000000000000001'", "UPDATE state SET key=zeroblob(16)",
        "DELETE FROM state", "DROP TABLE children", "CREATE TABLE more(x)",
        "CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE state SET next=x'0000000000000000'; "
        "END",
        "PRAGMA user_version=2", "PRAGMA application_id=7",
        "INSERT INTO children VALUES(1,zeroblob(8),zeroblob(32),zeroblob(16),zeroblob(32))"}) {
    put(path, good);
    sql(path, change);
    error_of(Errc::bad_data, [&] { (void)StateLedger::open(path, kKey, 32).reserve(1); });
  }
  put(path, good);
  EXPECT_EQ(StateLedger::open(path, kKey, 32).reserve(1).first, 7U);
}

// Another rollback mode, as a curious user's sqlite3 might leave it, is taken back.
TEST(StateLedger, WalModeIsUndone) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  sql(path, "PRAGMA journal_mode=WAL");
  EXPECT_EQ(StateLedger::open(path, kKey, 32).reserve(3).last, 3U);
  EXPECT_EQ(StateLedger::open(path, kKey, 32).next(), 3U);
  EXPECT_FALSE(fs::exists(folder.path() / "k.state-wal"));
}

TEST(StateLedger, EveryFlippedByteIsFoundOrHarmless) {
  const TempFolder folder(fast_base());
  const fs::path path = folder.path() / "k.state";
  constexpr std::uint64_t kNext = 7;
  StateLedger::create(path, kKey, 32);
  LmsTreeSecret child;
  {
    StateLedger ledger = StateLedger::open(path, kKey, 32);
    (void)ledger.reserve(kNext);
    ledger.child_secret(1, 0, 32, child);
    LmsTreeSecret second;
    ledger.child_secret(1, 1, 32, second);
  }
  const Bytes good = get(path);
  std::size_t flips = 0;
  std::size_t refused = 0;
  const auto unused = [&](std::size_t i) {  // zeros around: space between cells, sampled only
    const std::size_t from = i < 8 ? 0 : i - 8;
    const ByteView near =
        ByteView(good).subspan(from, std::min<std::size_t>(17, good.size() - from));
    return i >= 100 && std::ranges::all_of(near, [](std::uint8_t b) { return b == 0; });
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (unused(i) && i % 61 != 0) continue;
    for (const unsigned change : {1U << (i % 8), 0xffU}) {
      Bytes bad = good;
      bad[i] = static_cast<std::uint8_t>(bad[i] ^ change);
      put(path, bad);
      std::error_code ignored;
      fs::remove(path.string() + "-journal", ignored);
      fs::remove(path.string() + "-wal", ignored);
      ++flips;
      try {
        StateLedger ledger = StateLedger::open(path, kKey, 32);
        const IndexRange range = ledger.reserve(1);
        EXPECT_GE(range.first, kNext) << "byte " << i;
        EXPECT_EQ(range.last, range.first + 1) << "byte " << i;
        LmsTreeSecret back;
        ledger.child_secret(1, 0, 32, back);
        EXPECT_TRUE(equal(back.seed_view(), child.seed_view())) << "byte " << i;
        EXPECT_EQ(back.identifier, child.identifier) << "byte " << i;
      } catch (const Error& e) {
        ++refused;
        EXPECT_TRUE(contains(e.what(), "k.state")) << e.what();
      }
    }
  }
  EXPECT_GT(flips, 2000U);
  EXPECT_GT(refused, 1000U);
}

// A8: 8 processes of 4 threads on a key of 32 leaves: 32 distinct indices, then "exhausted", and
// the counter stays.
TEST(StateLedger, ProcessesAndThreadsNeverShareAnIndex) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  NumberPipe pipe;
  const auto reserve_all = [&] {
    std::atomic<int> exhausted{0};
    StateLedger ledger = StateLedger::open(path, kKey, 32);
    std::vector<std::thread> team;
    for (int t = 0; t < 4; ++t) {
      team.emplace_back([&] {
        try {
          for (;;) {
            const IndexRange range = ledger.reserve(1);
            if (range.last != range.first + 1) ::_exit(97);
            pipe.send(range.first);
          }
        } catch (const Error& e) {
          if (e.code() == Errc::unavailable && contains(e.what(), "exhausted")) ++exhausted;
        }
      });
    }
    for (std::thread& t : team) t.join();
    return exhausted == 4 ? 0 : 1;
  };
  std::vector<pid_t> children;
  for (int p = 0; p < 8; ++p) children.push_back(spawn(reserve_all));
  const std::vector<std::uint64_t> got = pipe.drain();
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(got.size(), 32U);
  const std::set<std::uint64_t> distinct(got.begin(), got.end());
  EXPECT_EQ(distinct.size(), 32U);
  EXPECT_EQ(*distinct.rbegin(), 31U);
  EXPECT_EQ(StateLedger::open(path, kKey, 32).next(), 32U);
}

// A9: killed at any moment, an index that was handed out is never handed out again.
TEST(StateLedger, KilledProcessesLoseNothing) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  constexpr std::uint64_t kCapacity = 1'000'000;
  StateLedger::create(path, kKey, kCapacity);
  std::set<std::uint64_t> seen;
  std::array<std::uint8_t, 8> random{};
  for (int round = 0; round < 100; ++round) {
    NumberPipe pipe;
    const pid_t child = spawn([&] {
      StateLedger ledger = StateLedger::open(path, kKey, kCapacity);
      for (;;) pipe.send(ledger.reserve(1).first);
      return 0;
    });
    // Wait for the first index (so that the loop runs), then a moment that falls anywhere in a
    // round.
    struct pollfd ready = {pipe.reader(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
    random_private_bytes(random);
    ::usleep(static_cast<useconds_t>(load_be64(random.data()) % 8000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait_for(child), 128 + SIGKILL);
    for (const std::uint64_t index : pipe.drain()) {
      ASSERT_TRUE(seen.insert(index).second) << "index " << index << " twice, round " << round;
    }
    ASSERT_GE(StateLedger::open(path, kKey, kCapacity).next(), *seen.rbegin() + 1);
  }
  EXPECT_GE(seen.size(), 100U);
}

TEST(StateLedger, LockedByAnother) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  StateLedger ledger = StateLedger::open(path, kKey, 32);
  NumberPipe pipe;
  const pid_t child = spawn([&] {
    sqlite3* db = nullptr;
    if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) return 1;
    if (sqlite3_exec(db, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) != SQLITE_OK) return 1;
    pipe.send(1);
    ::pause();
    return 0;
  });
  struct pollfd ready = {pipe.reader(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
  const std::string what = error_of(Errc::unavailable, [&] { (void)ledger.reserve(1); });
  EXPECT_TRUE(contains(what, "locked by another process")) << what;
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(ledger.reserve(1).first, 0U);
}

TEST(StateLedger, NotUsableAfterFork) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  StateLedger ledger = StateLedger::open(path, kKey, 32);
  const pid_t child = spawn([&] {
    int ok = 0;
    const auto refused = [&](auto&& call) {
      try {
        call();
      } catch (const Error& e) {
        ok += e.code() == Errc::internal && contains(e.what(), "fork") ? 1 : 0;
      }
    };
    refused([&] { (void)ledger.reserve(1); });
    refused([&] { (void)ledger.next(); });
    LmsTreeSecret secret;
    refused([&] { ledger.child_secret(1, 0, 32, secret); });
    { const StateLedger gone = std::move(ledger); }
    return ok == 3 ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(ledger.reserve(1).first, 0U);
}

TEST(StateLedger, ReplacedOrRolledBackWhileOpen) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  const Bytes fresh = get(path);
  {
    StateLedger ledger = StateLedger::open(path, kKey, 32);
    (void)ledger.reserve(5);
    fs::rename(path, folder.path() / "moved");
    put(path, fresh);
    const std::string what = error_of(Errc::bad_data, [&] { (void)ledger.reserve(1); });
    EXPECT_TRUE(contains(what, "moved, removed or replaced")) << what;
  }
  fs::rename(folder.path() / "moved", path);
  StateLedger ledger = StateLedger::open(path, kKey, 32);
  (void)ledger.reserve(1);
  // An old copy over the same file. (From another process: closing a descriptor here drops our
  // locks.)
  const pid_t child = spawn([&] {
    put(path, fresh);
    return 0;
  });
  EXPECT_EQ(wait_for(child), 0);
  const std::string what = error_of(Errc::bad_data, [&] { (void)ledger.reserve(1); });
  EXPECT_TRUE(contains(what, "went back")) << what;
}

TEST(StateLedger, ReadOnlyLedgerIsRefused) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  ::chmod(path.c_str(), 0400);
  give_to_nobody(folder.path());
  give_to_nobody(path);
  const auto as_nobody = [&] {
    return wait_for(spawn([&] {
      if (!become_nobody()) return 99;
      try {
        (void)StateLedger::open(path, kKey, 32).reserve(1);
      } catch (const Error& e) {
        return e.exit_code();
      }
      return 0;
    }));
  };
  EXPECT_EQ(as_nobody(), static_cast<int>(Errc::permission));  // the file
  ::chmod(path.c_str(), 0600);
  ::chmod(folder.path().c_str(), 0500);
  EXPECT_EQ(as_nobody(), static_cast<int>(Errc::permission));  // the folder: no journal possible
  ::chmod(folder.path().c_str(), 0700);
  EXPECT_EQ(as_nobody(), 0);
}

TEST(StateLedger, ChildTreesAreDrawnOnce) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  const HssParams params = parse_hss_params("5/8,5/8");
  StateLedger::create(path, kKey, params.capacity());
  StateLedger ledger = StateLedger::open(path, kKey, params.capacity());
  LmsTreeSecret a;
  LmsTreeSecret b;
  LmsTreeSecret c;
  const LmsTreeSecret parent;
  LedgerChildren children(ledger);
  children.child(1, 0, params.levels[1], parent, 0, a);
  children.child(1, 1, params.levels[1], parent, 1, b);
  EXPECT_EQ(a.seed_bytes, 32U);
  EXPECT_FALSE(equal(a.seed_view(), b.seed_view()));
  EXPECT_NE(a.identifier, b.identifier);
  ledger.child_secret(2, 0, 24, c);
  EXPECT_EQ(c.seed_bytes, 24U);
  EXPECT_FALSE(equal(c.seed_view(), a.seed_view().first(24)));
  ledger.child_secret(1, ~std::uint64_t{0}, 32, c);
  // The same after a restart and from another handle, whatever was in the object before.
  StateLedger again = StateLedger::open(path, kKey, params.capacity());
  again.child_secret(1, 0, 32, c);
  EXPECT_TRUE(equal(a.seed_view(), c.seed_view()));
  EXPECT_EQ(a.identifier, c.identifier);
  error_of(Errc::bad_data, [&] { again.child_secret(1, 0, 24, c); });
  error_of(Errc::bad_data, [&] { again.child_secret(2, 0, 32, c); });
  EXPECT_EQ(again.next(), 0U);
  // A lost row is not drawn anew: the parent's leaf would sign a second key.
  sql(path, "DELETE FROM children WHERE level=1 AND tree=x'0000000000000001'");
  error_of(Errc::bad_data, [&] { again.child_secret(1, 1, 32, c); });
  error_of(Errc::bad_data, [&] { (void)StateLedger::open(path, kKey, params.capacity()); });
}

TEST(StateLedger, ProcessesAgreeOnChildTrees) {
  const TempFolder folder;
  const fs::path path = folder.path() / "k.state";
  StateLedger::create(path, kKey, 32);
  NumberPipe pipe;
  const auto draw_ten = [&] {
    StateLedger ledger = StateLedger::open(path, kKey, 32);
    for (std::uint64_t tree = 0; tree < 10; ++tree) {
      LmsTreeSecret secret;
      ledger.child_secret(1, tree, 32, secret);
      pipe.send((load_be64(secret.seed.bytes().data()) & ~std::uint64_t{0xff}) | tree);
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) children.push_back(spawn(draw_ten));
  std::map<std::uint64_t, std::set<std::uint64_t>> seeds;
  for (const std::uint64_t v : pipe.drain()) seeds[v & 0xff].insert(v);
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(seeds.size(), 10U);
  for (const auto& [tree, drawn] : seeds) EXPECT_EQ(drawn.size(), 1U) << "tree " << tree;
  (void)StateLedger::open(path, kKey, 32);
}

}  // namespace
}  // namespace coppice
