#include "core/leaks/capture/glibc_state.h"

#include <gtest/gtest.h>

#include "core/leaks/testing/word_image.h"

namespace heapgauge::leaks {
namespace {

// A heap as glibc lays it out.
class FakeHeap final : public testing::WordImage {
 public:
  FakeHeap(uint64_t start, size_t bytes, uint64_t first)
      : WordImage(start, bytes / 8), at_(first) {}

  // The next chunk; its address.
  uint64_t Add(uint64_t size, bool in_use = true) {
    const uint64_t chunk = at_;
    at(chunk + 8) = size | (before_in_use_ ? 1 : 0);
    if (!before_in_use_) at(chunk) = before_;
    before_ = size;
    before_in_use_ = in_use;
    at_ += size;
    return chunk;
  }
  // All that is left.
  uint64_t AddTop() { return Add(end() - at_); }
  AddressRange range() const { return {start(), end()}; }

 private:
  uint64_t at_;
  bool before_in_use_ = true;
  uint64_t before_ = 0;
};

constexpr uint64_t kBrkHeap = 0x555500001000;
constexpr uint64_t kArenaHeap = 0x7f0000000000;

TEST(FreeChunksTest, FreeOnesAndTheRestOfAHeapAreFound) {
  FakeHeap heap(kBrkHeap, 64 * 1024, kBrkHeap);
  heap.Add(0x290);
  const uint64_t first = heap.Add(96, false);
  heap.Add(48);
  heap.Add(4096);
  const uint64_t second = heap.Add(2048, false);
  heap.Add(32);
  const uint64_t top = heap.AddTop();
  const std::vector<AddressRange> expected = {
      {first + 16, first + 96}, {second + 16, second + 2048}, {top + 16, heap.end()}};
  EXPECT_EQ(FindFreeChunks(heap, heap.range()), expected);
}

TEST(FreeChunksTest, AFurtherArenaBeginsBehindItsDescription) {
  for (const uint64_t head : {32, 48, 2256, 2288}) {
    FakeHeap heap(kArenaHeap, 132 * 1024, kArenaHeap + head);
    heap.at(kArenaHeap) = kArenaHeap + 48;
    heap.at(kArenaHeap + 16) = 128 * 1024;  // less than could be read
    heap.Add(0x290);
    const uint64_t free = heap.Add(512, false);
    heap.Add(1024);
    heap.Add(kArenaHeap + 128 * 1024 - free - 512 - 1024);
    const auto found = FindFreeChunks(heap, heap.range());
    ASSERT_EQ(found.size(), 2u) << head;
    EXPECT_EQ(found[0], (AddressRange{free + 16, free + 512}));
    EXPECT_EQ(found[1].end, kArenaHeap + 128 * 1024);
  }
}

// A program's own sbrk: before malloc's first part, between two, and at the end.
TEST(FreeChunksTest, WhatTheProgramTookOfTheBreakIsFound) {
  constexpr uint64_t kFirst = kBrkHeap + 0x3000;
  FakeHeap heap(kBrkHeap, 0x20000, kFirst);
  for (uint64_t at = kBrkHeap; at < kFirst; at += 8) heap.at(at) = kFirst + 0x290 + 16;
  heap.Add(0x290);
  const uint64_t block = heap.Add(0x100);
  heap.Add(0x6000 - 0x390 - 32, false);  // what was the last one
  const uint64_t posts = heap.Add(16);
  heap.Add(16);
  EXPECT_EQ(posts + 32, kFirst + 0x6000);
  EXPECT_EQ(FindForeignBreak(heap, heap.range(), {block + 16}),
            (std::vector<AddressRange>{{kBrkHeap, kFirst}, {posts + 32, heap.end()}}));
  // malloc goes on behind what the program took.
  constexpr uint64_t kSecond = kFirst + 0x6000 + 0x2000;
  for (uint64_t at = posts + 32; at < kSecond; at += 8) heap.at(at) = ~uint64_t{0};
  heap.at(kSecond + 8) = 0x400 | 1;
  heap.at(kSecond + 0x400 + 8) = (heap.end() - kSecond - 0x400) | 1;
  const std::vector<AddressRange> both = {{kBrkHeap, kFirst}, {posts + 32, kSecond}};
  EXPECT_EQ(FindForeignBreak(heap, heap.range(), {block + 16, kSecond + 16}), both);
}

TEST(FreeChunksTest, NothingIsForeignWhereAllIsMallocsOrNothingIs) {
  FakeHeap heap(kBrkHeap, 64 * 1024, kBrkHeap);
  const uint64_t block = heap.Add(0x290);
  heap.Add(96, false);
  heap.Add(48);
  heap.AddTop();
  EXPECT_TRUE(FindForeignBreak(heap, heap.range(), {block + 16}).empty());
  // Blocks without heads: another allocator's.
  FakeHeap other(kBrkHeap, 64 * 1024, kBrkHeap);
  EXPECT_TRUE(FindForeignBreak(other, other.range(), {kBrkHeap + 0x1000}).empty());
}

TEST(FreeChunksTest, NothingIsBelievedOfAHeapThatIsNone) {
  const auto made = [] {
    FakeHeap heap(kBrkHeap, 64 * 1024, kBrkHeap);
    heap.Add(0x290);
    heap.Add(96, false);
    heap.Add(48);
    heap.AddTop();
    return heap;
  };
  ASSERT_EQ(FindFreeChunks(made(), made().range()).size(), 2u);
  FakeHeap other_size = made();  // in front of the one behind the free one
  other_size.at(kBrkHeap + 0x290 + 96) = 64;
  EXPECT_TRUE(FindFreeChunks(other_size, other_size.range()).empty());
  FakeHeap too_far = made();
  too_far.at(kBrkHeap + 0x290 + 96 + 8) += 32;
  EXPECT_TRUE(FindFreeChunks(too_far, too_far.range()).empty());
  FakeHeap odd = made();
  odd.at(kBrkHeap + 8) += 8;
  EXPECT_TRUE(FindFreeChunks(odd, odd.range()).empty());
  const FakeHeap zero(kBrkHeap, 64 * 1024, kBrkHeap);
  EXPECT_TRUE(FindFreeChunks(zero, zero.range()).empty());
  const FakeHeap short_one = made();
  EXPECT_TRUE(FindFreeChunks(short_one, {kBrkHeap, kBrkHeap + 2 * 64 * 1024}).empty());
  EXPECT_TRUE(FindFreeChunks(short_one, {kBrkHeap + 16, short_one.end()}).empty());
}

TEST(FreeChunksTest, HolesAreTakenOut) {
  const std::vector<AddressRange> ranges = {{10, 20}, {30, 40}, {50, 60}};
  EXPECT_EQ(Without(ranges, {}), ranges);
  const std::vector<AddressRange> left = {{10, 12}, {14, 18}, {35, 40}, {50, 55}};
  EXPECT_EQ(Without(ranges, {{12, 14}, {18, 35}, {45, 50}, {55, 70}}), left);
  EXPECT_TRUE(Without(ranges, {{0, 100}}).empty());
}

}  // namespace
}  // namespace heapgauge::leaks
