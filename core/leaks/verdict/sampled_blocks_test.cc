#include "core/leaks/verdict/sampled_blocks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/gauge/testing/gauge_builder.h"

namespace heapgauge::leaks {
namespace {

class SampledBlocksTest : public ::testing::Test {
 protected:
  SampledBlocksTest() {
    path_ = ::testing::TempDir() + "sampled_blocks." + std::to_string(::getpid()) + ".hg";
    builder_.AddModule("/bin/server", 0x1000, 0x9000);
    builder_.header().ended_ns = 100;
  }
  ~SampledBlocksTest() override { std::filesystem::remove(path_); }

  wire::LiveRecord& AddLive(uint32_t stack, uint64_t address, uint64_t size, uint64_t birth_ns) {
    wire::LiveRecord& record = builder_.AddLive(stack, size, wire::kDefaultIntervalBytes, birth_ns);
    record.address = address;
    return record;
  }

  testing::GaugeBuilder builder_;
  std::string path_;
};

TEST_F(SampledBlocksTest, AreSortedAndWeightedAndKnowTheirStacks) {
  const uint32_t a = builder_.AddStack({0x1234, 0x2345});
  const uint32_t b = builder_.AddStack({0x5678});
  AddLive(a, 0x900000000, 1024, 10);
  AddLive(b, 0x500000, 1 << 30, 20);
  builder_.AddFreed(a, 1024);
  builder_.AddFreed(a, 1024);
  builder_.WriteTo(path_);
  const auto known = SampledBlocks(path_);
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ(known->blocks.size(), 2u);
  EXPECT_EQ(known->now_ns, 100u);
  EXPECT_FALSE(known->exact);
  const KnownBlock& large = known->blocks[0];
  const KnownBlock& small = known->blocks[1];
  EXPECT_EQ(large.address, 0x500000u);
  EXPECT_DOUBLE_EQ(large.weight, 1);
  EXPECT_EQ(small.birth_ns, 10u);
  EXPECT_NEAR(small.weight, 512.5, 0.01);
  const auto leaf = [&](const KnownBlock& block) {
    const NodeId node = known->stacks[block.stack].leaf;
    return known->profile.locations[known->profile.nodes[node].location].address;
  };
  EXPECT_EQ(leaf(large), 0x5678u);
  EXPECT_EQ(leaf(small), 0x1234u);
  ASSERT_EQ(known->histories.size(), known->stacks.size());
  EXPECT_EQ(known->histories[small.stack].taken, 3);
  EXPECT_NEAR(known->histories[small.stack].freed, 2, 1e-9);
  EXPECT_EQ(known->histories[large.stack].freed, 0);
}

TEST_F(SampledBlocksTest, TheYoungerOfTwoThatOverlapCounts) {
  const uint32_t stack = builder_.AddStack({0x1234});
  AddLive(stack, 0x10000, 0x1000, 50);  // the oldest, under two younger ones
  AddLive(stack, 0x10000, 0x100, 60);
  AddLive(stack, 0x10800, 0x100, 55);
  AddLive(stack, 0x20000, 0x1000, 70);
  AddLive(stack, 0x20080, 0x1000, 65);  // older than what lies before it
  AddLive(stack, 0x30000, 0, 5);
  AddLive(stack, 0x30000, 0, 6);
  builder_.WriteTo(path_);
  const auto known = SampledBlocks(path_);
  ASSERT_TRUE(known) << known.error().message;
  std::vector<uint64_t> births;
  for (const KnownBlock& block : known->blocks) births.push_back(block.birth_ns);
  EXPECT_EQ(births, (std::vector<uint64_t>{60, 55, 70, 6}));
  ASSERT_FALSE(known->profile.notes.empty());
}

TEST_F(SampledBlocksTest, RecordsOfAnEarlierMomentKeepTheirStacks) {
  const uint32_t stack = builder_.AddStack({0x1234});
  const wire::LiveRecord then = AddLive(stack, 0x10000, 4096, 50);
  builder_.live().clear();  // it was freed since
  const uint32_t later = builder_.AddStack({0x2345});
  AddLive(later, 0x20000, 4096, 90);
  builder_.WriteTo(path_);
  LiveRecords copy;
  copy.records.push_back(then);
  copy.now_ns = 60;
  const auto known = SampledBlocks(path_, copy);
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ(known->blocks.size(), 1u);
  EXPECT_EQ(known->blocks[0].address, 0x10000u);
  EXPECT_EQ(known->now_ns, 60u);
  const NodeId leaf = known->stacks[known->blocks[0].stack].leaf;
  EXPECT_EQ(known->profile.locations[known->profile.nodes[leaf].location].address, 0x1234u);
}

TEST_F(SampledBlocksTest, WhatIsYoungerThanThePictureIsLeftOutWithWhatItLiesOn) {
  const uint32_t stack = builder_.AddStack({0x1234});
  AddLive(stack, 0x10000, 4096, 59);
  AddLive(stack, 0x20000, 4096, 60);
  AddLive(stack, 0x30000, 4096, 10);  // freed unseen: another has its place
  AddLive(stack, 0x30000, 4096, 70);
  builder_.WriteTo(path_);
  const auto file = File::OpenForReading(path_);
  ASSERT_TRUE(file);
  auto live = LiveRecords::Copy(*file, builder_.header().start_monotonic_ns + 60);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_EQ(live->born_before_ns, 60u);
  const auto known = SampledBlocks(path_, *live);
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ(known->blocks.size(), 1u);
  EXPECT_EQ(known->blocks[0].address, 0x10000u);
}

TEST_F(SampledBlocksTest, WhatIsOlderThanTheResetOrMakesNoSenseIsLeftOut) {
  const uint32_t stack = builder_.AddStack({0x1234});
  AddLive(stack, 0x10000, 4096, 10);
  AddLive(stack, 0x20000, 4096, 50);
  AddLive(stack, ~uint64_t{0}, 4096, 60);
  AddLive(stack, 0x40000, uint64_t{1} << 60, 60);
  AddLive(4711, 0x50000, 4096, 70);  // its stack cannot be read
  builder_.header().reset_ns = 20;
  builder_.WriteTo(path_);
  const auto known = SampledBlocks(path_);
  ASSERT_TRUE(known) << known.error().message;
  ASSERT_EQ(known->blocks.size(), 2u);
  EXPECT_EQ(known->blocks[0].address, 0x20000u);
  EXPECT_EQ(known->blocks[1].address, 0x50000u);
  EXPECT_EQ(known->stacks[known->blocks[1].stack].leaf, kNone);
  EXPECT_FALSE(known->profile.notes.empty());
}

}  // namespace
}  // namespace heapgauge::leaks
