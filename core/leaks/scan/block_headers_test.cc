#include "core/leaks/scan/heuristics.h"

#include <gtest/gtest.h>

#include "core/leaks/testing/word_image.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kTable = 0x1000;  // words that point to blocks
constexpr uint64_t kFirstBlock = 0x100000;

class BlockHeadersTest : public ::testing::Test {
 protected:
  // A block that a word points into, `offset` bytes behind its start.
  void Add(uint64_t offset, Kind kind = Kind::kPossible) {
    const uint64_t number = blocks_.size();
    KnownBlock block;
    block.address = kFirstBlock + number * 1024;
    block.size = 1000;
    image_.at(kTable + number * 8) = block.address + offset;
    blocks_.push_back(block);
    Verdict verdict;
    verdict.kind = kind;
    verdict.has_pointer = true;
    verdict.set_pointer(kTable + number * 8);
    verdicts_.push_back(verdict);
  }
  void AddMany(int count, uint64_t offset, Kind kind = Kind::kPossible) {
    for (int i = 0; i < count; ++i) Add(offset, kind);
  }
  std::optional<BlockHeaders> Find() { return FindBlockHeaders(image_, blocks_, verdicts_); }

  testing::WordImage image_{kTable, 16384};
  std::vector<KnownBlock> blocks_;
  std::vector<Verdict> verdicts_;
};

TEST_F(BlockHeadersTest, AreWhatAllPointersLeaveOut) {
  AddMany(30, 24);
  AddMany(3, 500);
  AddMany(5, 0);  // held by others that are possibly lost
  AddMany(40, 64, Kind::kReachable);
  const auto found = Find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 24u);
  EXPECT_EQ(found->blocks, 30u);
  EXPECT_EQ(found->looked_at, 38u);
  EXPECT_EQ(NoteOf(*found),
            "30 of 38 possibly lost blocks are pointed to 24 bytes behind their start, as by an "
            "allocator of the program's own that keeps a header there: they are probably in use");
}

TEST_F(BlockHeadersTest, DoNotClaimMoreThanWasLookedAt) {
  AddMany(10'001, 16);
  const auto found = Find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->all_seen);
  EXPECT_EQ(NoteOf(*found).find("10,000 of 10,000 possibly lost blocks that were looked at are"),
            0u);
}

TEST_F(BlockHeadersTest, AreNotSeenInAFewBlocksOrInPointersThatDiffer) {
  EXPECT_FALSE(Find());
  AddMany(7, 24);
  EXPECT_FALSE(Find()) << "chance";
  AddMany(40, 0);
  EXPECT_FALSE(Find()) << "pointers to the start are no sign of it";
  AddMany(3, 24);
  EXPECT_TRUE(Find());
  AddMany(5, 48);
  EXPECT_FALSE(Find()) << "two thirds";
}

TEST_F(BlockHeadersTest, NeedPointersThatCanBeReadAndLeadIntoTheBlock) {
  AddMany(20, 24);
  for (Verdict& verdict : verdicts_) verdict.by_register = true;
  EXPECT_FALSE(Find());
  for (Verdict& verdict : verdicts_) verdict.by_register = false;
  EXPECT_TRUE(Find());
  for (Verdict& verdict : verdicts_) verdict.set_pointer(0x10);
  EXPECT_FALSE(Find());
  blocks_.clear();
  verdicts_.clear();
  AddMany(20, 2000);  // behind its end
  EXPECT_FALSE(Find());
}

}  // namespace
}  // namespace heapgauge::leaks
