#include "agent/unwind/path_memo.h"

#include <gtest/gtest.h>

#include <memory>

namespace heapgauge::agent {
namespace {

constexpr uint64_t kKey = 0x8000000000000001;
constexpr uint32_t kWays = 4;

// Adds a path; its pc tells it from others.
Path* Add(PathMemo* paths, uint64_t key, uintptr_t pc) {
  Path* const path = paths->TakePlace(key);
  path->pc = pc;
  paths->AddKey(key, path);
  return path;
}

TEST(PathMemo, ZeroedMemoryKnowsNoPath) {
  const auto paths = std::make_unique<PathMemo>();
  EXPECT_EQ(paths->First(kKey), nullptr);
  EXPECT_EQ(paths->First(PathMemo::KeyOf(0, 0)), nullptr);
  EXPECT_TRUE(paths->IsOfUse());
}

TEST(PathMemo, FindsAllPathsOfAKeyAndNoOthers) {
  const auto paths = std::make_unique<PathMemo>();
  const uint64_t other = kKey + 2;  // of the same set
  Path* const first = Add(paths.get(), kKey, 1);
  Path* const between = Add(paths.get(), other, 2);
  Path* const second = Add(paths.get(), kKey, 3);
  EXPECT_EQ(paths->First(kKey), first);
  EXPECT_EQ(paths->Next(kKey, first), second);
  EXPECT_EQ(paths->Next(kKey, second), nullptr);
  EXPECT_EQ(paths->First(other), between);
  EXPECT_EQ(paths->Next(other, between), nullptr);
}

TEST(PathMemo, APathThatIsBeingWrittenIsNotThere) {
  const auto paths = std::make_unique<PathMemo>();
  for (uint32_t i = 0; i < kWays; ++i) Add(paths.get(), kKey, 1 + i);
  paths->TakePlace(kKey);  // of the oldest
  uint32_t found = 0;
  for (const Path* path = paths->First(kKey); path != nullptr; path = paths->Next(kKey, path)) {
    EXPECT_NE(path->pc, 1u);
    ++found;
  }
  EXPECT_EQ(found, kWays - 1);
}

TEST(PathMemo, RestsWhereNothingComesAgainAndThenTriesOnceMore) {
  const auto paths = std::make_unique<PathMemo>();
  for (int i = 0; i < 1000; ++i) {  // half of them is enough
    ASSERT_TRUE(paths->IsOfUse()) << i;
    i % 2 == 0 ? paths->Miss() : paths->Hit();
  }
  int tries = 0, rests = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (paths->IsOfUse()) {
      ++tries;
      paths->Miss();
    } else {
      ++rests;
    }
  }
  EXPECT_GT(tries, 50);
  EXPECT_GT(rests, 20 * tries);
}

}  // namespace
}  // namespace heapgauge::agent
