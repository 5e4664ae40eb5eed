#include "core/leaks/capture/glibc_state.h"

#include <gtest/gtest.h>

#include "core/leaks/testing/word_image.h"

namespace heapgauge::leaks {
namespace {

using testing::WordImage;

constexpr uint64_t kData = 0x7f0000001000;
constexpr uint64_t kArena = kData + 0x340;

// An arena whose lists are empty but for the first few.
WordImage WithArena(int used) {
  WordImage image(kData, 1024);
  for (uint64_t i = 0; i < 127; ++i) {
    const uint64_t list = kArena + 112 + 16 * i;
    const bool empty = i >= static_cast<uint64_t>(used);
    image.at(list) = empty ? list - 16 : 0x555500000000 + 64 * i;
    image.at(list + 8) = empty ? list - 16 : 0x555500000010 + 64 * i;
  }
  return image;
}

TEST(FindArenasTest, AnArenaIsKnownByItsEmptyLists) {
  for (const int used : {0, 1, 5, 100}) {
    const WordImage image = WithArena(used);
    const auto arenas = FindArenas(image, {kData, kData + 8192});
    ASSERT_EQ(arenas.size(), 1u) << used;
    EXPECT_EQ(arenas[0], (AddressRange{kArena, kArena + 2200}));
  }
}

TEST(FindArenasTest, AFewWordsThatPointToThemselvesAreNoArena) {
  WordImage image(kData, 1024);
  for (int i = 0; i < 8; ++i) {
    const uint64_t list = kArena + 16 * static_cast<uint64_t>(i);
    image.at(list) = image.at(list + 8) = list - 16;
  }
  EXPECT_TRUE(FindArenas(image, {kData, kData + 8192}).empty());
  EXPECT_TRUE(FindArenas(image, {kData + (1 << 20), kData + (2 << 20)}).empty());
}

TEST(ThreadVectorBlockTest, TheVectorBeginsBeforeWhatThePointerPointsTo) {
  WordImage image(kData, 1024);
  const uint64_t block = kData + 64;
  image.at(block) = image.at(block + 16) = block;
  image.at(block + 8) = 0x555500001010;
  EXPECT_EQ(ThreadVectorBlock(image, block), 0x555500001000u);
  EXPECT_EQ(ThreadVectorBlock(image, block + 64), 0u);
  EXPECT_EQ(ThreadVectorBlock(image, block + 1), 0u);
  EXPECT_EQ(ThreadVectorBlock(image, 0), 0u);
}

TEST(ThreadLocalBlocksTest, AreTheVectorAndWhatItLists) {
  WordImage image(kData, 1024);
  const uint64_t control = kData + 64;
  const uint64_t vector = kData + 1024;
  const uint64_t data = kData + 4096;
  image.at(control) = image.at(control + 16) = control;
  image.at(control + 8) = vector + 16;
  image.at(vector - 8) = 0x131;  // 304 bytes and a flag
  image.at(vector) = 16;
  // Two modules: one whose data is not in the heap, and one whose data is.
  image.at(vector + 32) = control - 32;
  image.at(vector + 48) = data + 64;
  image.at(vector + 56) = data;
  image.at(data - 8) = 0x211;
  EXPECT_EQ(ThreadLocalBlocks(image, control),
            (std::vector<AddressRange>{{vector, vector + 0x128}, {data, data + 0x208}}));
  // Nonsense in place of sizes and counts.
  image.at(data - 8) = ~uint64_t{0};
  image.at(vector) = ~uint64_t{0};
  EXPECT_EQ(ThreadLocalBlocks(image, control),
            (std::vector<AddressRange>{{vector, vector + 0x128}}));
  image.at(vector - 8) = 8;
  EXPECT_TRUE(ThreadLocalBlocks(image, control).empty());
}

TEST(FindControlBlockTest, ItIsAtTheEndOfTheStack) {
  WordImage image(kData, 8192);
  const AddressRange stack{kData, kData + 8192 * 8};
  EXPECT_FALSE(FindControlBlock(image, stack));
  const uint64_t block = stack.end - 2304;
  image.at(block) = image.at(block + 16) = block;
  image.at(block + 720) = 4711;
  const auto found = FindControlBlock(image, stack);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, block);
  EXPECT_EQ(found->thread, 4711u);
  image.at(block + 720) = 0xffffffff;
  EXPECT_EQ(FindControlBlock(image, stack)->thread, 0u) << "it was joined";
  // Not one that is far from the end: that is a copy, or another stack's.
  EXPECT_FALSE(FindControlBlock(image, {kData, block - 4096}));
}

}  // namespace
}  // namespace heapgauge::leaks
