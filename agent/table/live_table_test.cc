#include "agent/table/live_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/table/sample_filter.h"
#include "agent/testing/gauge_file_test.h"

namespace heapgauge::agent {
namespace {

class LiveTableTest : public GaugeFileTest {
 protected:
  static wire::LiveRecord Block(uintptr_t address, uint64_t size) {
    wire::LiveRecord record{};
    record.address = address;
    record.size = size;
    record.interval = 524288;
    record.stack = 1;
    return record;
  }

  uint64_t StateInFile(uint32_t index) const {
    const auto* record = file_->Existing<wire::LiveRecord>(wire::SegmentKind::kLive, index);
    return record == nullptr ? 0 : record->state;
  }

  std::unique_ptr<LiveTable> live_ = std::make_unique<LiveTable>();
  wire::Loss loss_ = wire::Loss::kNoRoom;
};

TEST_F(LiveTableTest, ShowsABlockInTheFileUntilItIsFreed) {
  const uint8_t before = sample_filter::CounterOf(0x7000).load();
  ASSERT_TRUE(live_->Add(file_.get(), Block(0x7000, 64), &loss_));
  EXPECT_NE(StateInFile(1), 0u);
  EXPECT_EQ(StateInFile(1) % 2, 0u);
  EXPECT_EQ(sample_filter::CounterOf(0x7000).load(), before + 1);
  wire::LiveRecord record;
  EXPECT_TRUE(live_->Remove(file_.get(), 0x7000, &record));
  EXPECT_EQ(record.size, 64u);
  EXPECT_EQ(StateInFile(1), 0u);
  EXPECT_EQ(sample_filter::CounterOf(0x7000).load(), before);
  EXPECT_FALSE(live_->Remove(file_.get(), 0x7000, &record));
}

TEST_F(LiveTableTest, UsesRecordsAgain) {
  wire::LiveRecord record;
  for (int i = 0; i < 100'000; ++i) {
    const uintptr_t address = 0x10000 + static_cast<uintptr_t>(i % 977) * 4096;
    ASSERT_TRUE(live_->Add(file_.get(), Block(address, 8), &loss_));
    ASSERT_TRUE(live_->Remove(file_.get(), address, &record));
  }
  EXPECT_LE(file_->header()->live_count, 3u);
}

TEST_F(LiveTableTest, HoldsManyBlocksAndVisitsEach) {
  constexpr uintptr_t kBlocks = 20'000;
  for (uintptr_t i = 1; i <= kBlocks; ++i) {
    ASSERT_TRUE(live_->Add(file_.get(), Block(i * 64, i), &loss_));
  }
  uint64_t sum = 0;
  live_->ForEach([&](const wire::LiveRecord& record) { sum += record.size; });
  EXPECT_EQ(sum, kBlocks * (kBlocks + 1) / 2);
  struct stat info;
  ASSERT_EQ(stat(Path("t.hg").c_str(), &info), 0);
  EXPECT_LE(info.st_size, static_cast<off_t>((kBlocks / 1024 + 4) * wire::kSegmentBytes));
}

TEST_F(LiveTableTest, WorksInAForkedChildWithoutAFile) {
  ASSERT_TRUE(live_->Add(file_.get(), Block(0x9000, 64), &loss_));
  const uint64_t state = StateInFile(1);
  wire::LiveRecord record;
  EXPECT_TRUE(live_->Remove(nullptr, 0x9000, &record));
  EXPECT_EQ(StateInFile(1), state);  // the parent's record is untouched
}

TEST_F(LiveTableTest, CarriesBlocksIntoAnotherFileAsInherited) {
  ASSERT_TRUE(live_->Add(file_.get(), Block(0x9000, 64), &loss_));
  GaugeFile other{};
  const std::string other_path = Path("child.hg");
  ASSERT_EQ(other.Create(other_path.c_str()), 0);
  live_->CopyTo(&other);
  const auto* record = other.Existing<wire::LiveRecord>(wire::SegmentKind::kLive, 1);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->address, 0x9000u);
  EXPECT_EQ(record->flags, wire::kLiveInherited);
  unlink(other_path.c_str());
}

TEST_F(LiveTableTest, CountsALossWhenTheFileIsGone) {
  unlink(Path("t.hg").c_str());
  const uint8_t before = sample_filter::CounterOf(0x9000).load();
  EXPECT_FALSE(live_->Add(file_.get(), Block(0x9000, 64), &loss_));
  EXPECT_EQ(loss_, wire::Loss::kNoRoom);
  EXPECT_EQ(sample_filter::CounterOf(0x9000).load(), before);
}

TEST_F(LiveTableTest, ThreadsAddAndRemoveAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uintptr_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uintptr_t i = 0; i < 30'000; ++i) {
        wire::Loss loss;
        const uintptr_t address = 0x100000 + (i * 4 + t) * 64;
        wire::LiveRecord record;
        if (!live_->Add(file_.get(), Block(address, i), &loss)) ++wrong;
        if (!live_->Remove(file_.get(), address, &record) || record.size != i) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  uint64_t left = 0;
  live_->ForEach([&](const wire::LiveRecord&) { ++left; });
  EXPECT_EQ(left, 0u);
}

TEST_F(LiveTableTest, ARecordThatWasFreedBeforeAForkIsShownInTheChildsFile) {
  for (uintptr_t i = 1; i <= 1500; ++i) {
    ASSERT_TRUE(live_->Add(file_.get(), Block(i * 4096, 64), &loss_));
  }
  wire::LiveRecord record;
  for (uintptr_t i = 1; i <= 1100; ++i) ASSERT_TRUE(live_->Remove(nullptr, i * 4096, &record));
  const std::string path = Path("child.hg");
  GaugeFile child;
  ASSERT_EQ(child.Create(path.c_str()), 0);
  unlink(path.c_str());
  // Without its name the file cannot grow: nothing can be shown, and that is said.
  EXPECT_FALSE(live_->Add(&child, Block(0x7000, 64), &loss_));
  EXPECT_EQ(loss_, wire::Loss::kNoRoom);
  GaugeFile second;
  ASSERT_EQ(second.Create(path.c_str()), 0);
  live_->CopyTo(&second);
  for (uintptr_t i = 1; i <= 1100; ++i) {
    ASSERT_TRUE(live_->Add(&second, Block(i * 4096, 64), &loss_));
  }
  uint32_t shown = 0;
  for (uint32_t i = 1; i <= 1500; ++i) {
    const auto* in_file = second.Existing<wire::LiveRecord>(wire::SegmentKind::kLive, i);
    if (in_file != nullptr && in_file->state != 0) ++shown;
  }
  EXPECT_EQ(shown, 1500u);
  unlink(path.c_str());
}

TEST_F(LiveTableTest, PoolsHaveATableAndAFilterOfTheirOwn) {
  auto pools = std::make_unique<LiveTable>();
  pools->HoldPools();
  const uint8_t before = sample_filter::CounterOf(0x7000).load();
  wire::LiveRecord one = Block(0x7000, 64);
  one.flags = 1u << wire::kLivePoolShift;
  wire::LiveRecord two = Block(0x7000, 32);
  two.flags = 2u << wire::kLivePoolShift;
  ASSERT_TRUE(live_->Add(file_.get(), Block(0x7000, 4096), &loss_));
  ASSERT_TRUE(pools->Add(file_.get(), one, &loss_));
  ASSERT_TRUE(pools->Add(file_.get(), two, &loss_));
  EXPECT_EQ(sample_filter::CounterOf(0x7000).load(), before + 1);
  EXPECT_EQ(sample_filter::PoolCounterOf(0x7000).load(), 2);
  EXPECT_EQ(file_->header()->live_count, 2u);
  EXPECT_EQ(file_->header()->pool_live_count, 3u);

  wire::LiveRecord record;
  EXPECT_FALSE(pools->Remove(file_.get(), 0x7000, &record, 3));
  EXPECT_TRUE(pools->Remove(file_.get(), 0x7000, &record, 2));
  EXPECT_EQ(record.size, 32u);
  EXPECT_EQ(record.address, 0x7000u);
  EXPECT_TRUE(live_->Remove(file_.get(), 0x7000, &record));
  EXPECT_EQ(record.size, 4096u);
  EXPECT_TRUE(pools->Remove(file_.get(), 0x7000, &record, 1));
  EXPECT_EQ(record.size, 64u);
  EXPECT_EQ(sample_filter::PoolCounterOf(0x7000).load(), 0);
}

}  // namespace
}  // namespace heapgauge::agent
