#include "core/base/large_memory.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

constexpr uintptr_t kHugePage = 2 << 20;

TEST(HugeArrayTest, IsZeroAtFirst) {
  HugeArray<uint64_t> array(1000);
  ASSERT_GE(array.capacity(), 1000u);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(array[i], 0u);
}

TEST(HugeArrayTest, NeedsNoMemoryForNothing) {
  HugeArray<uint64_t> array(0);
  EXPECT_EQ(array.capacity(), 0u);
}

TEST(HugeArrayTest, KeepsWhatIsInItWhenItGrows) {
  HugeArray<uint32_t> array;
  size_t filled = 0;
  for (const size_t capacity : {10, 5000, 400'000, 3'000'000}) {
    array.Reserve(capacity);
    ASSERT_GE(array.capacity(), capacity);
    for (; filled < capacity; ++filled) array[filled] = static_cast<uint32_t>(filled * 7);
  }
  for (size_t i = 0; i < filled; ++i) ASSERT_EQ(array[i], static_cast<uint32_t>(i * 7));
  array.Reserve(filled * 2);
  EXPECT_EQ(array[filled + 1], 0u);
}

TEST(HugeArrayTest, BeginsWithALargePageWhereThereIsMuch) {
  HugeArray<char> array(kHugePage + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kHugePage, 0u);
  array.Reserve(5 * kHugePage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kHugePage, 0u);
}

TEST(HugeArrayTest, SaysWhenThereIsNoMemory) {
  HugeArray<uint64_t> array(1);
  array[0] = 5;
  EXPECT_THROW(array.Reserve(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(array.Reserve(size_t{1} << 57), std::bad_alloc);
  EXPECT_EQ(array[0], 5u);
}

}  // namespace
}  // namespace heapgauge
