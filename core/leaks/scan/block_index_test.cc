#include "core/leaks/scan/block_index.h"

#include <gtest/gtest.h>

#include <random>

namespace heapgauge::leaks {
namespace {

KnownBlock At(uint64_t address, uint64_t size) {
  KnownBlock block;
  block.address = address;
  block.size = size;
  return block;
}

// What a plain search says.
uint32_t Plainly(const std::vector<KnownBlock>& blocks, uint64_t address) {
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (address < blocks[i].address) continue;
    if (address - blocks[i].address < std::max<uint64_t>(blocks[i].size, 1)) return i;
  }
  return kNoBlock;
}

void ExpectSame(const std::vector<KnownBlock>& blocks) {
  const BlockIndex index(blocks);
  for (const KnownBlock& block : blocks) {
    for (const uint64_t address : {block.address - 1, block.address, block.address + 1,
                                   block.address + block.size / 2, block.address + block.size - 1,
                                   block.address + block.size, block.address + block.size + 1}) {
      EXPECT_EQ(index.Find(address), Plainly(blocks, address)) << std::hex << address;
    }
  }
}

TEST(BlockIndex, NothingIsFoundWhereThereIsNoBlock) {
  const BlockIndex index((std::vector<KnownBlock>()));
  EXPECT_EQ(index.Find(0), kNoBlock);
  EXPECT_EQ(index.Find(UINT64_MAX), kNoBlock);
  EXPECT_EQ(index.size(), 0u);
}

TEST(BlockIndex, FindsFirstAndLastByteAndNothingBeside) {
  ExpectSame({At(0x1000, 16), At(0x1010, 1), At(0x1020, 0x500), At(0x4000, 8)});
}

TEST(BlockIndex, ABlockOfNoBytesHasItsAddress) {
  const BlockIndex index({At(0x1000, 0), At(0x1010, 0)});
  EXPECT_EQ(index.Find(0x1000), 0u);
  EXPECT_EQ(index.Find(0x1001), kNoBlock);
  EXPECT_EQ(index.Find(0x1010), 1u);
}

TEST(BlockIndex, FindsBlocksThatAreFarApart) {
  ExpectSame({At(0x555555550000, 64), At(0x555555550040, 64), At(0x7f0000000000, 1 << 20),
              At(0x7fffffffe000, 32)});
}

TEST(BlockIndex, FindsBlocksOfManyGigabytes) {
  const uint64_t gib = 1 << 30;
  ExpectSame({At(5 * gib - 16, 16), At(5 * gib, 3 * gib), At(8 * gib, 40 * gib),
              At(48 * gib + 4096, 16), At(49 * gib - 8, 16), At(60 * gib + 5, 7 * gib)});
  const BlockIndex index({At(8 * gib + 3, 40 * gib)});
  for (uint64_t address = 8 * gib + 3; address < 48 * gib + 3; address += gib / 3) {
    EXPECT_EQ(index.Find(address), 0u);
  }
}

TEST(BlockIndex, FindsAmongManySmallOnesInOneBucket) {
  std::vector<KnownBlock> blocks;
  for (uint64_t i = 0; i < 3000; ++i) blocks.push_back(At(0x10000 + i * 16, 10));
  blocks.push_back(At(0x30000000, 16));  // so that buckets are wide
  ExpectSame(blocks);
}

TEST(BlockIndex, AddressesThatNoProgramHasAreNotFound) {
  const BlockIndex index({At(0x1000, 16), At(uint64_t{1} << 60, 16), At(UINT64_MAX - 4, 16)});
  EXPECT_EQ(index.size(), 3u);
  EXPECT_EQ(index.Find(0x1008), 0u);
  EXPECT_EQ(index.Find(uint64_t{1} << 60), kNoBlock);
  const BlockIndex huge({At(0x1000, UINT64_MAX)});
  EXPECT_EQ(huge.Find(0x7fffffffffff), 0u);
}

TEST(BlockIndex, ABlockThatReachesIntoTheNextIsCutShort) {
  const BlockIndex index({At(0x1000, 64), At(0x1010, 16), At(0x1010, 16)});
  EXPECT_EQ(index.Find(0x100f), 0u);
  EXPECT_EQ(index.Find(0x1010), 2u);
  EXPECT_EQ(index.Find(0x1020), kNoBlock);
}

TEST(BlockIndex, SaysWhichBlockEndsFirstAfterAnAddress) {
  const BlockIndex index({At(0x1000, 16), At(0x1020, 16)});
  EXPECT_EQ(index.FirstEndingAfter(0), 0u);
  EXPECT_EQ(index.FirstEndingAfter(0x100f), 0u);
  EXPECT_EQ(index.FirstEndingAfter(0x1010), 1u);
  EXPECT_EQ(index.FirstEndingAfter(0x1030), 2u);
}

TEST(BlockIndex, AgreesWithAPlainSearchOnRandomBlocks) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<KnownBlock> blocks;
    uint64_t at = 0x1000 + random() % 5000;
    const uint64_t count = 1 + random() % 60;
    for (uint64_t i = 0; i < count; ++i) {
      const int bits = random() % 8 == 0 ? 33 : 8;
      blocks.push_back(At(at, random() % (uint64_t{1} << bits)));
      at += std::max<uint64_t>(blocks.back().size, 1) +
            random() % (uint64_t{1} << (random() % 8 == 0 ? 34 : 6));
    }
    ExpectSame(blocks);
  }
}

}  // namespace
}  // namespace heapgauge::leaks
