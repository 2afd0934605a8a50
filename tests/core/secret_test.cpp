// Secret<N> and WipedBytes: moves wipe their source, nothing copies, compares or prints.
// (tests/compile_fail checks the messages of the compiler.)
#include "core/base/secret.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <memory>
#include <new>
#include <ostream>
#include <type_traits>

#include "tests/core/core_support.hpp"

namespace coppice {
namespace {

using Key = Secret<32>;

template <class T>
concept Streams = requires(std::ostream& out, const T& value) {
  out << value;
};

static_assert(!std::copy_constructible<Key> && !std::is_copy_assignable_v<Key>);
static_assert(!std::equality_comparable<Key>);
static_assert(!Streams<Key>);
static_assert(std::is_nothrow_move_constructible_v<Key> && std::is_nothrow_move_assignable_v<Key>);
static_assert(!std::is_copy_constructible_v<WipedBytes> && !std::is_copy_assignable_v<WipedBytes>);
static_assert(!std::is_copy_constructible_v<LmsTreeSecret>);

bool all_zero(ByteView b) {
  return std::ranges::all_of(b, [](std::uint8_t x) { return x == 0; });
}

Key sample() {
  Key key;
  std::ranges::fill(key.writable(), std::uint8_t{0x5a});
  return key;
}

TEST(Secret, StartsZeroAndHoldsWhatItIsGiven) {
  EXPECT_TRUE(all_zero(Key().bytes()));
  const Bytes value(32, 0x11);
  const Key key{std::span<const std::uint8_t, 32>(value)};
  EXPECT_TRUE(equal(key.bytes(), value));
}

TEST(Secret, MoveConstructionWipesTheSource) {
  Key a = sample();
  const Key b(std::move(a));
  EXPECT_TRUE(equal(b.bytes(), Bytes(32, 0x5a)));
  EXPECT_TRUE(all_zero(a.bytes()));  // NOLINT: the moved-from state is the subject
}

TEST(Secret, MoveAssignmentWipesTheSourceAndSelfMoveKeepsTheValue) {
  Key a = sample();
  Key b;
  b = std::move(a);
  EXPECT_TRUE(equal(b.bytes(), Bytes(32, 0x5a)));
  EXPECT_TRUE(all_zero(a.bytes()));  // NOLINT
  Key& same = b;
  b = std::move(same);
  EXPECT_TRUE(equal(b.bytes(), Bytes(32, 0x5a)));
}

TEST(Secret, DuplicateIsIndependentAndClearWipes) {
  Key a = sample();
  const Key b = a.duplicate();
  a.clear();
  EXPECT_TRUE(all_zero(a.bytes()));
  EXPECT_TRUE(equal(b.bytes(), Bytes(32, 0x5a)));
}

TEST(Secret, DestructionWipesItsMemory) {
  alignas(Key) std::uint8_t room[sizeof(Key)];
  Key* key = ::new (room) Key(sample());
  EXPECT_FALSE(all_zero(room));
  std::destroy_at(key);
  asm volatile("" : : "r"(room) : "memory");  // the bytes below are read from memory, not assumed
  EXPECT_TRUE(all_zero(room));
}

TEST(WipedBytes, MovesItsContentAndEmptiesTheSource) {
  WipedBytes a(Bytes{1, 2, 3});
  WipedBytes b(std::move(a));
  EXPECT_EQ(a.size(), 0U);  // NOLINT
  EXPECT_TRUE(equal(b.view(), Bytes{1, 2, 3}));
  WipedBytes c(5);
  EXPECT_TRUE(all_zero(c.view()));
  c = std::move(b);
  EXPECT_TRUE(equal(c.view(), Bytes{1, 2, 3}));
  EXPECT_EQ(b.size(), 0U);  // NOLINT
}

}  // namespace
}  // namespace coppice
