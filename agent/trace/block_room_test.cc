#include "agent/trace/block_room.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace heapgauge::agent {
namespace {

constexpr int kMoreThanTrials = 1000;
int asked = 0;

size_t OfGlibc(uintptr_t block) {
  ++asked;
  return malloc_usable_size(reinterpret_cast<void*>(block));
}

// A block with a head of our making: the size of its chunk and flags.
struct Forged {
  size_t head;
  char bytes[24];
  uintptr_t block() const { return reinterpret_cast<uintptr_t>(bytes); }
};
size_t TellsNine(uintptr_t) {
  ++asked;
  return 9;
}
size_t TellsTwentyFour(uintptr_t) {
  ++asked;
  return 24;
}

TEST(BlockRoom, IsTheRequestWhereNobodyKnows) {
  BlockRoom room;
  room.Use(nullptr, true);
  EXPECT_EQ(room.Of(0, 77), 77u);
}

TEST(BlockRoom, TellsWhatGlibcTellsOfSmallAndMappedBlocks) {
  BlockRoom room;
  room.Use(&OfGlibc, true);
  for (int i = 0; i < kMoreThanTrials; ++i) {
    const size_t size = i % 10 == 9 ? size_t{1} << 20 : static_cast<size_t>(i);
    void* block = malloc(size);
    EXPECT_EQ(room.Of(reinterpret_cast<uintptr_t>(block), size), malloc_usable_size(block));
    free(block);
  }
}

TEST(BlockRoom, ReadsTheHeadOnceThatHasProvedRight) {
  BlockRoom room;
  room.Use(&TellsTwentyFour, true);
  const Forged forged{.head = 33, .bytes = {}};
  asked = 0;
  for (int i = 0; i < kMoreThanTrials; ++i) EXPECT_EQ(room.Of(forged.block(), 20), 24u);
  EXPECT_GT(asked, 100);
  EXPECT_LT(asked, kMoreThanTrials);
}

TEST(BlockRoom, AsksForGoodIfTheHeadWasEverWrong) {
  BlockRoom room;
  room.Use(&TellsNine, true);
  const Forged forged{.head = 33, .bytes = {}};
  asked = 0;
  for (int i = 0; i < kMoreThanTrials; ++i) EXPECT_EQ(room.Of(forged.block(), 20), 9u);
  EXPECT_EQ(asked, kMoreThanTrials);
}

TEST(BlockRoom, AsksForGoodWhereBlocksHaveNoHeads) {
  BlockRoom room;
  room.Use(&TellsTwentyFour, false);
  const Forged forged{.head = 33, .bytes = {}};
  asked = 0;
  for (int i = 0; i < kMoreThanTrials; ++i) EXPECT_EQ(room.Of(forged.block(), 20), 24u);
  EXPECT_EQ(asked, kMoreThanTrials);
}

}  // namespace
}  // namespace heapgauge::agent
