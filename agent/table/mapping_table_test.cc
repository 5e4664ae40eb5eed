#include "agent/table/mapping_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "agent/testing/gauge_file_test.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kPage = 4096;

class MappingTableTest : public GaugeFileTest {
 protected:
  static wire::MappingRecord Range(uint64_t page, uint64_t pages, uint32_t stack) {
    wire::MappingRecord record{};
    record.address = page * kPage;
    record.length = pages * kPage;
    record.stack = stack;
    return record;
  }

  static void Count(void* context, const MappingTable::Gone& gone) {
    auto* self = static_cast<MappingTableTest*>(context);
    self->gone_bytes_[gone.stack] += gone.bytes;
    self->gone_whole_[gone.stack] += gone.whole ? 1 : 0;
  }

  bool Add(uint64_t page, uint64_t pages, uint32_t stack) {
    return table_->Add(file_.get(), Range(page, pages, stack), &Count, this);
  }
  bool Remove(uint64_t page, uint64_t pages) {
    return table_->Remove(file_.get(), page * kPage, pages * kPage, &first_, &Count, this);
  }

  // What readers of the file see: first page to (pages, stack).
  using Seen = std::map<uint64_t, std::pair<uint64_t, uint32_t>>;
  static Seen InFile(const GaugeFile& file) {
    Seen seen;
    for (uint32_t i = 1; i < file.header()->mapping_count; ++i) {
      const auto* record = file.Existing<wire::MappingRecord>(wire::SegmentKind::kMappings, i);
      if (record == nullptr || record->state == 0) continue;
      EXPECT_EQ(record->state % 2, 0u);
      seen[record->address / kPage] = {record->length / kPage, record->stack};
    }
    return seen;
  }

  std::unique_ptr<MappingTable> table_ = std::make_unique<MappingTable>();
  wire::MappingRecord first_{};
  std::map<uint32_t, uint64_t> gone_bytes_;
  std::map<uint32_t, uint64_t> gone_whole_;
};

TEST_F(MappingTableTest, UnmappingCutsRanges) {
  ASSERT_TRUE(Add(100, 64, 1));
  ASSERT_TRUE(Remove(116, 32));  // the middle
  EXPECT_EQ(InFile(*file_), (Seen{{100, {16, 1}}, {148, {16, 1}}}));
  EXPECT_EQ(first_.address, 116 * kPage);
  EXPECT_EQ(first_.length, 32 * kPage);
  EXPECT_EQ(first_.stack, 1u);
  ASSERT_TRUE(Remove(90, 14));   // the front
  ASSERT_TRUE(Remove(160, 99));  // the back
  EXPECT_EQ(InFile(*file_), (Seen{{104, {12, 1}}, {148, {12, 1}}}));
  ASSERT_TRUE(Remove(0, 1000));
  EXPECT_TRUE(InFile(*file_).empty());
  EXPECT_EQ(gone_bytes_[1], 64 * kPage);
  EXPECT_EQ(gone_whole_[1], 2u);
  ASSERT_TRUE(Remove(0, 1000));
  EXPECT_EQ(first_.stack, 0u);
}

TEST_F(MappingTableTest, AMappingTakesThePlaceOfOthers) {
  ASSERT_TRUE(Add(100, 10, 1));
  ASSERT_TRUE(Add(110, 10, 2));
  ASSERT_TRUE(Add(130, 10, 3));
  ASSERT_TRUE(Add(105, 30, 4));
  EXPECT_EQ(InFile(*file_), (Seen{{100, {5, 1}}, {105, {30, 4}}, {135, {5, 3}}}));
}

TEST_F(MappingTableTest, IsRightAfterManyRandomChanges) {
  std::mt19937 random(7);
  std::vector<uint32_t> truth(512);  // stack of each page
  for (uint32_t i = 1; i <= 20'000; ++i) {
    const uint64_t page = random() % 500;
    const uint64_t pages = 1 + random() % 12;
    const bool add = random() % 2 == 0;
    ASSERT_TRUE(add ? Add(page, pages, i) : Remove(page, pages));
    for (uint64_t p = page; p < page + pages; ++p) truth[p] = add ? i : 0;
  }
  std::vector<uint32_t> found(512);
  for (const auto& [page, range] : InFile(*file_)) {
    for (uint64_t p = page; p < page + range.first; ++p) {
      EXPECT_EQ(found[p], 0u) << "two ranges hold page " << p;
      found[p] = range.second;
    }
  }
  EXPECT_EQ(found, truth);
}

TEST_F(MappingTableTest, AFullTableTurnsRangesAwayAndGoesOn) {
  for (uint32_t i = 0; i < MappingTable::kMaxRanges; ++i) ASSERT_TRUE(Add(2 * i, 1, 1));
  EXPECT_FALSE(Add(2 * MappingTable::kMaxRanges, 1, 1));
  EXPECT_TRUE(Remove(0, 1));
  EXPECT_TRUE(Add(2 * MappingTable::kMaxRanges, 1, 1));
}

TEST_F(MappingTableTest, AChildGetsAllRangesAsInherited) {
  ASSERT_TRUE(Add(100, 10, 1));
  ASSERT_TRUE(Add(200, 10, 2));
  ASSERT_TRUE(Remove(100, 10));
  ASSERT_TRUE(table_->Add(nullptr, Range(300, 10, 3), nullptr, nullptr));  // before it has a file
  GaugeFile* child = new GaugeFile;                                        // large
  const std::string path = Path("child.hg");
  ASSERT_EQ(child->Create(path.c_str()), 0);
  table_->CopyTo(child);
  unlink(path.c_str());
  EXPECT_EQ(InFile(*child), (Seen{{200, {10, 2}}, {300, {10, 3}}}));
  const auto* record = child->Existing<wire::MappingRecord>(wire::SegmentKind::kMappings, 1);
  EXPECT_EQ(record->flags, wire::kMappingInherited);
  delete child;
}

TEST_F(MappingTableTest, ThreadsMayChangeItAtTheSameTime) {
  std::vector<std::thread> threads;
  std::atomic<uint64_t> lost{0};
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20'000; ++i) {
        wire::MappingRecord first;
        const uint64_t page = 1000 * (t + 1) + static_cast<uint64_t>(i % 10);
        if (!table_->Add(file_.get(), Range(page, 1, 1), nullptr, nullptr)) ++lost;
        if (!table_->Remove(file_.get(), page * kPage, kPage, &first, nullptr, nullptr)) ++lost;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // What was turned away may have left ranges behind, but nothing is broken.
  EXPECT_LE(InFile(*file_).size(), lost.load());
  ASSERT_TRUE(Remove(0, 1'000'000));
  EXPECT_TRUE(InFile(*file_).empty());
}

}  // namespace
}  // namespace heapgauge::agent
