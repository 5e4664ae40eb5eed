#include "core/leaks/scan/scan.h"

#include <gtest/gtest.h>

#include "core/leaks/scan/test_image.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kGlobals = 0x10000;
constexpr uint64_t kHeap = 0x100000;
constexpr uint64_t kHeapSize = 0x40000;
constexpr uint64_t kFile = 0x400000;
constexpr uint64_t kCode = 0x500000;

// A program with globals, a heap, and a file that is mapped with tables and code.
class LeakScan : public testing::Test {
 protected:
  LeakScan() {
    image_.Map(kGlobals, 0x1000);
    image_.Map(kHeap, kHeapSize);
    image_.Map(kFile, 0x1000);
    image_.Map(kCode, 0x1000);
    roots_.ranges.push_back({{kGlobals, kGlobals + 0x1000}, RootKind::kData, 0, 0});
    roots_.heap = {{kHeap, kHeap + kHeapSize}};
    roots_.files = {{kFile, kFile + 0x1000}, {kCode, kCode + 0x1000}};
    roots_.code = {{kCode, kCode + 0x1000}};
  }

  // Blocks are made in the order of addresses; its number.
  uint32_t Make(uint64_t size, uint64_t gap = 16) {
    KnownBlock block;
    block.address = next_;
    block.size = size;
    blocks_.push_back(block);
    next_ += (size + 15) / 16 * 16 + gap;
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  uint64_t At(uint32_t block, uint64_t offset = 0) const { return blocks_[block].address + offset; }
  void FromGlobal(uint64_t value) {
    image_.Put(global_, value);
    global_ += 8;
  }
  const Verdict& Of(uint32_t block) const { return result_.verdicts[block]; }
  Kind KindOf(uint32_t block) const { return result_.verdicts[block].kind; }
  void Run(bool exact = true) { result_ = Scan(image_, blocks_, exact, roots_, options_); }

  TestImage image_;
  std::vector<KnownBlock> blocks_;
  Roots roots_;
  ScanOptions options_;
  ScanResult result_;
  uint64_t next_ = kHeap + 16;
  uint64_t global_ = kGlobals;
};

TEST_F(LeakScan, TellsTheNineCasesApart) {
  const uint32_t a1 = Make(32);  // root -> a1
  const uint32_t a2 = Make(32);  // root -> a2 -> b2
  const uint32_t b2 = Make(32);
  const uint32_t b3 = Make(32);  // nothing
  const uint32_t a4 = Make(32);  // a4 -> b4
  const uint32_t b4 = Make(32);
  const uint32_t b5 = Make(32);  // root -(inside)-> b5
  const uint32_t a6 = Make(32);  // root -> a6 -(inside)-> b6
  const uint32_t b6 = Make(32);
  const uint32_t a7 = Make(32);  // root -(inside)-> a7 -> b7
  const uint32_t b7 = Make(32);
  const uint32_t a8 = Make(32);  // root -(inside)-> a8 -(inside)-> b8
  const uint32_t b8 = Make(32);
  const uint32_t a9 = Make(32);  // a9 -(inside)-> b9
  const uint32_t b9 = Make(32);
  FromGlobal(At(a1));
  FromGlobal(At(a2));
  image_.Put(At(a2, 8), At(b2));
  image_.Put(At(a4), At(b4));
  FromGlobal(At(b5, 5));
  FromGlobal(At(a6));
  image_.Put(At(a6, 24), At(b6, 16));
  FromGlobal(At(a7, 16));
  image_.Put(At(a7, 16), At(b7));
  FromGlobal(At(a8, 31));
  image_.Put(At(a8), At(b8, 1));
  image_.Put(At(a9), At(b9, 9));
  Run();
  EXPECT_EQ(KindOf(a1), Kind::kReachable);
  EXPECT_EQ(KindOf(a2), Kind::kReachable);
  EXPECT_EQ(KindOf(b2), Kind::kReachable);
  EXPECT_EQ(KindOf(b3), Kind::kDefinite);
  EXPECT_EQ(KindOf(a4), Kind::kDefinite);
  EXPECT_EQ(KindOf(b4), Kind::kIndirect);
  EXPECT_EQ(KindOf(b5), Kind::kPossible);
  EXPECT_EQ(KindOf(a6), Kind::kReachable);
  EXPECT_EQ(KindOf(b6), Kind::kPossible);
  EXPECT_EQ(KindOf(a7), Kind::kPossible);
  EXPECT_EQ(KindOf(b7), Kind::kPossible);
  EXPECT_EQ(KindOf(a8), Kind::kPossible);
  EXPECT_EQ(KindOf(b8), Kind::kPossible);
  EXPECT_EQ(KindOf(a9), Kind::kDefinite);
  EXPECT_EQ(KindOf(b9), Kind::kIndirect);
  EXPECT_EQ(Of(b4).leader, a4);
  EXPECT_EQ(Of(b9).leader, a9);
}

TEST_F(LeakScan, RemembersThePointerThatLedToABlock) {
  const uint32_t a = Make(32);
  const uint32_t b = Make(32);
  const uint32_t c = Make(32);
  const uint32_t d = Make(32);
  roots_.registers = {{0, 7, "rax"}, {At(a), 7, "rbx"}};
  image_.Put(At(a, 16), At(b));
  image_.Put(At(c, 8), At(d));
  Run();
  EXPECT_TRUE(Of(a).by_register);
  EXPECT_EQ(Of(a).pointer, 1u);
  EXPECT_EQ(Of(a).from, kNoBlock);
  EXPECT_FALSE(Of(b).by_register);
  EXPECT_EQ(Of(b).pointer, At(a, 16));
  EXPECT_EQ(Of(b).from, a);
  EXPECT_FALSE(Of(c).has_pointer);
  EXPECT_TRUE(Of(d).has_pointer);
  EXPECT_EQ(Of(d).pointer, At(c, 8));
  EXPECT_EQ(Of(d).from, c);
}

TEST_F(LeakScan, FollowsAListWhicheverWayItLies) {
  std::vector<uint32_t> up, down;
  for (int i = 0; i < 100; ++i) {
    up.push_back(Make(64));
    down.push_back(Make(64));
  }
  for (int i = 0; i + 1 < 100; ++i) {
    image_.Put(At(up[i]), At(up[i + 1]));
    image_.Put(At(down[i + 1]), At(down[i]));
  }
  FromGlobal(At(up[0]));
  FromGlobal(At(down[99]));
  Run();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(KindOf(up[i]), Kind::kReachable);
    EXPECT_EQ(KindOf(down[i]), Kind::kReachable);
  }
  EXPECT_EQ(Of(down[0]).from, down[1]);
}

TEST_F(LeakScan, AListThatIsLostHasOneLeaderWhicheverWayItLies) {
  const uint32_t a = Make(32), b = Make(32), c = Make(32);
  const uint32_t x = Make(32), y = Make(32), z = Make(32);
  image_.Put(At(a), At(b));
  image_.Put(At(b), At(c));
  image_.Put(At(z), At(y));
  image_.Put(At(y), At(x));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
  EXPECT_EQ(Of(b).leader, a);
  EXPECT_EQ(Of(c).leader, a);
  EXPECT_EQ(KindOf(z), Kind::kDefinite);
  EXPECT_EQ(KindOf(y), Kind::kIndirect);
  EXPECT_EQ(KindOf(x), Kind::kIndirect);
  EXPECT_EQ(Of(y).leader, z);
  EXPECT_EQ(Of(x).leader, z);
}

TEST_F(LeakScan, OfACircleTheFirstOneLeads) {
  const uint32_t a = Make(32), b = Make(32), c = Make(32);
  image_.Put(At(b), At(c));
  image_.Put(At(c), At(a));
  image_.Put(At(a), At(b));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
  EXPECT_EQ(KindOf(b), Kind::kIndirect);
  EXPECT_EQ(KindOf(c), Kind::kIndirect);
}

TEST_F(LeakScan, ABlockThatPointsToItselfIsLost) {
  const uint32_t a = Make(32);
  image_.Put(At(a), At(a));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
}

TEST_F(LeakScan, OnePastTheEndIsNotInABlock) {
  const uint32_t a = Make(32);
  FromGlobal(At(a, 32));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
}

TEST_F(LeakScan, ABlockOfNoBytesCanBeReached) {
  const uint32_t a = Make(0), b = Make(0);
  FromGlobal(At(a));
  FromGlobal(At(b, 1));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(KindOf(b), Kind::kDefinite);
}

TEST_F(LeakScan, OnlyAlignedWordsArePointers) {
  const uint32_t a = Make(32), b = Make(32), c = Make(20);
  image_.Put(kGlobals + 4, At(a));
  image_.Put(kGlobals + 0x20, At(c));
  image_.Put(At(c, 16), At(b));  // its last four bytes are in no block
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
  EXPECT_EQ(KindOf(b), Kind::kDefinite);
  EXPECT_EQ(KindOf(c), Kind::kReachable);
}

TEST_F(LeakScan, BlocksInARootRangeAreNoRoots) {
  roots_.ranges.push_back({{kHeap, kHeap + kHeapSize}, RootKind::kMapping, 0, 0});
  const uint32_t a = Make(32), b = Make(32), c = Make(32);
  image_.Put(At(a), At(b));
  image_.Put(At(c, 32), At(c));  // behind it, in no block
  Run();
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
  EXPECT_EQ(KindOf(b), Kind::kIndirect);
  EXPECT_EQ(KindOf(c), Kind::kReachable);
}

TEST_F(LeakScan, MemoryThatCannotBeReadIsCounted) {
  const uint32_t a = Make(32);
  roots_.ranges.push_back({{0x900000, 0x903000}, RootKind::kMapping, 0, 0});
  image_.Map(0x902000, 0x1000);
  image_.Put(0x902ff8, At(a));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(result_.unreadable_bytes, 0x2000u);
  EXPECT_EQ(result_.scanned_bytes, 0x1000u + 0x1000u + 32u);
}

TEST_F(LeakScan, PointersOfLargeBlocksAreFound) {
  image_.Map(0x1000000, 0x300000);
  const uint32_t a = Make(32), b = Make(32), c = Make(32);
  next_ = 0x1000000;
  const uint32_t large = Make(0x2fffff);
  image_.Put(At(large), At(a));
  image_.Put(At(large, 0x123450), At(b));
  image_.Put(At(large, 0x2ffff0), At(c));
  Run();
  EXPECT_EQ(KindOf(large), Kind::kDefinite);
  for (const uint32_t block : {a, b, c}) EXPECT_EQ(Of(block).leader, large);
  EXPECT_EQ(Of(b).pointer, At(large, 0x123450));
  FromGlobal(At(large));
  Run();
  for (const uint32_t block : {a, b, c, large}) EXPECT_EQ(KindOf(block), Kind::kReachable);
}

TEST_F(LeakScan, CountsAStringOfOldByItsCharacters) {
  const uint32_t a = Make(25 + 10), b = Make(25 + 10), c = Make(25 + 11);
  for (const uint32_t block : {a, b, c}) {
    image_.Put(At(block), 10);
    image_.Put(At(block, 8), 10);
    FromGlobal(At(block, 24));
  }
  image_.Put(At(b), 11);  // longer than there is room for
  Run();
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(Of(a).heuristic, Heuristic::kStdString);
  EXPECT_EQ(KindOf(b), Kind::kPossible);
  EXPECT_EQ(KindOf(c), Kind::kPossible);
}

TEST_F(LeakScan, CountsAnEmptyStringOfOld) {
  const uint32_t a = Make(25);
  FromGlobal(At(a, 24));
  Run();
  EXPECT_EQ(Of(a).heuristic, Heuristic::kStdString);
}

TEST_F(LeakScan, CountsABlockThatBeginsWithItsLength) {
  const uint32_t a = Make(108);
  image_.Put(At(a), 100);
  FromGlobal(At(a, 8));
  Run();
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(Of(a).heuristic, Heuristic::kLength64);
  options_.heuristics = 1u << static_cast<uint32_t>(Heuristic::kNewArray);
  Run();
  EXPECT_EQ(Of(a).heuristic, Heuristic::kNewArray);
  options_.heuristics = 0;
  Run();
  EXPECT_EQ(KindOf(a), Kind::kPossible);
  EXPECT_EQ(Of(a).heuristic, Heuristic::kNone);
}

TEST_F(LeakScan, CountsAnArrayThatBeginsWithHowMany) {
  const uint32_t a = Make(8 + 3 * 40), b = Make(8 + 3 * 40), c = Make(8 + 3 * 40);
  image_.Put(At(a), 3);
  image_.Put(At(b), 7);
  image_.Put(At(c), 3);
  FromGlobal(At(a, 8));
  FromGlobal(At(b, 8));
  FromGlobal(At(c, 16));
  Run();
  EXPECT_EQ(Of(a).heuristic, Heuristic::kNewArray);
  EXPECT_EQ(KindOf(b), Kind::kPossible);
  EXPECT_EQ(KindOf(c), Kind::kPossible);
}

TEST_F(LeakScan, CountsAnObjectBySecondBase) {
  image_.Put(kFile + 0x100, kCode);
  image_.Put(kFile + 0x110, kCode + 0x10);  // one null between them
  image_.Put(kFile + 0x200, kCode + 0x20);
  image_.Put(kFile + 0x208, kFile);  // no code
  const uint32_t a = Make(64), b = Make(64), c = Make(64), d = Make(64);
  for (const uint32_t block : {a, b, c, d}) {
    image_.Put(At(block), kFile + 0x100);
    image_.Put(At(block, 24), kFile + 0x100);
    FromGlobal(At(block, 24));
  }
  image_.Put(At(b, 24), kFile + 0x200);
  image_.Put(At(c), kFile + 0x200);
  image_.Put(At(d, 24), kHeap);
  Run();
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(Of(a).heuristic, Heuristic::kMultipleInheritance);
  EXPECT_EQ(KindOf(b), Kind::kPossible);
  EXPECT_EQ(KindOf(c), Kind::kPossible);
  EXPECT_EQ(KindOf(d), Kind::kPossible);
}

TEST_F(LeakScan, WhatAHeuristicReachedLeadsOn) {
  const uint32_t b = Make(32), a = Make(108), c = Make(108), d = Make(32);
  image_.Put(At(a), 100);
  image_.Put(At(a, 16), At(b));
  image_.Put(At(c), 100);
  image_.Put(At(b), At(c, 8));
  image_.Put(At(c, 32), At(d));
  FromGlobal(At(a, 8));
  Run();
  for (const uint32_t block : {a, b, c, d}) EXPECT_EQ(KindOf(block), Kind::kReachable);
  EXPECT_EQ(Of(c).heuristic, Heuristic::kLength64);
  EXPECT_EQ(Of(c).from, b);
}

TEST_F(LeakScan, APointerToTheStartNeedsNoHeuristic) {
  const uint32_t a = Make(108), b = Make(32), c = Make(108);
  image_.Put(At(a), 100);
  FromGlobal(At(a, 8));
  FromGlobal(At(a));
  image_.Put(At(c), 100);
  image_.Put(At(c, 8), At(b));
  image_.Put(At(b), At(c));  // only seen once the heuristic has led there
  FromGlobal(At(c, 8));
  Run();
  EXPECT_EQ(Of(a).heuristic, Heuristic::kNone);
  EXPECT_EQ(KindOf(c), Kind::kReachable);
  EXPECT_EQ(Of(c).heuristic, Heuristic::kNone);
  EXPECT_EQ(Of(c).from, kNoBlock);
  EXPECT_EQ(Of(b).from, c);
}

TEST_F(LeakScan, SampledFollowsPointersThroughUnknownBlocks) {
  const uint32_t a = Make(32, 4096), b = Make(32);
  const uint64_t unknown1 = kHeap + 0x8000, unknown2 = kHeap + 0x20000;
  FromGlobal(unknown1 + 5);
  image_.Put(unknown1 + 64, unknown2);
  image_.Put(unknown2 + 4088, At(a));
  image_.Put(unknown2 + 4096, At(b));  // too far
  Run(false);
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(Of(a).pointer, unknown2 + 4088);
  EXPECT_EQ(Of(a).from, kNoBlock);
  EXPECT_EQ(KindOf(b), Kind::kPossible);
  EXPECT_EQ(Of(b).pointer, unknown2 + 4096);
  Run(true);
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
}

TEST_F(LeakScan, SampledStopsAtAKnownBlock) {
  const uint32_t a = Make(32, 256), b = Make(32, 256), c = Make(32);
  FromGlobal(At(a, 64));
  image_.Put(At(a, 128), At(a));
  image_.Put(At(b, 64), At(c));
  Run(false);
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(KindOf(b), Kind::kDefinite);
  EXPECT_EQ(KindOf(c), Kind::kPossible);
}

TEST_F(LeakScan, SampledTellsLostBlocksFromThoseThatUnknownMemoryPointsTo) {
  const uint32_t a = Make(32), b = Make(32), c = Make(32), d = Make(32, 8192), e = Make(32);
  image_.Put(At(a), At(b));
  image_.Put(At(d, 1024), At(c));
  image_.Put(At(c, 8), At(e, 4));
  image_.Put(At(d, 2048), kHeap + 0x30000);  // leads to what is unknown and not reached either
  Run(false);
  EXPECT_EQ(KindOf(a), Kind::kDefinite);
  EXPECT_EQ(KindOf(b), Kind::kIndirect);
  EXPECT_EQ(Of(b).leader, a);
  EXPECT_EQ(KindOf(c), Kind::kPossible);
  EXPECT_EQ(KindOf(d), Kind::kDefinite);
  EXPECT_EQ(KindOf(e), Kind::kPossible);
}

TEST_F(LeakScan, SampledRegistersReachUnknownMemory) {
  const uint32_t a = Make(32);
  roots_.registers = {{kHeap + 0x3000, 1, "r12"}};
  image_.Put(kHeap + 0x3008, At(a));
  Run(false);
  EXPECT_EQ(KindOf(a), Kind::kReachable);
}

TEST_F(LeakScan, SampledHeuristicsLeadOnThroughUnknownMemory) {
  const uint32_t a = Make(108), b = Make(32);
  image_.Put(At(a), 100);
  image_.Put(At(a, 64), kHeap + 0x5000);
  image_.Put(kHeap + 0x5000, At(b));
  FromGlobal(At(a, 8));
  Run(false);
  EXPECT_EQ(Of(a).heuristic, Heuristic::kLength64);
  EXPECT_EQ(KindOf(b), Kind::kReachable);
}

TEST_F(LeakScan, SampledHeapWithHolesIsRead) {
  roots_.heap.push_back({0x10000000, 0x18000000});  // 128 MiB, of which one page can be read
  image_.Map(0x14000000, 0x1000);
  const uint32_t a = Make(32), b = Make(32);
  FromGlobal(0x14000000);
  image_.Put(0x14000010, At(a));
  image_.Put(0x14000ff8, 0x17000000);
  FromGlobal(0x12345678);
  Run(false);
  EXPECT_EQ(KindOf(a), Kind::kReachable);
  EXPECT_EQ(KindOf(b), Kind::kDefinite);
}

// As jemalloc 5.3 has it for a block of 16 KiB, which is its 36th size class.
constexpr uint64_t kLargeFlags = uint64_t{36} << 20 | 1 << 15 | 1 << 13 | 3;

TEST_F(LeakScan, RecordsOfTheAllocatorDoNotReachTheirBlocks) {
  next_ = kHeap + 0x4000;
  const uint32_t lost = Make(16000, 0x1000);
  const uint32_t held = Make(16000, 0x1000);
  const uint64_t records = kHeap + 0x1000;  // unknown memory that is reached
  FromGlobal(records);
  for (const uint32_t block : {lost, held}) {
    const uint64_t at = records + 128 * block;
    blocks_[block].address = (At(block) + 63) / 64 * 64;
    image_.Put(at, kLargeFlags);
    image_.Put(at + 8, At(block));
    image_.Put(at + 16, 0x5000 | 77);
  }
  FromGlobal(At(held));
  roots_.has_extent_records = true;
  Run(false);
  EXPECT_EQ(KindOf(lost), Kind::kDefinite);
  EXPECT_EQ(KindOf(held), Kind::kReachable);
  // Nobody reaches the records themselves: then they are leftovers, and say as little.
  image_.Put(kGlobals, 0);
  Run(false);
  EXPECT_EQ(KindOf(lost), Kind::kDefinite);
  // Over another allocator the same words are the program's.
  roots_.has_extent_records = false;
  Run(false);
  EXPECT_EQ(KindOf(lost), Kind::kPossible);
  FromGlobal(records);
  Run(false);
  EXPECT_EQ(KindOf(lost), Kind::kReachable);
}

TEST(ExtentRecord, HasAClassAndASizeThatAgree) {
  EXPECT_EQ(ExtentClassBytes(4), 64u);
  EXPECT_EQ(ExtentClassBytes(5), 80u);
  EXPECT_EQ(ExtentClassBytes(36), 16384u);
  EXPECT_EQ(ExtentClassBytes(47), 114688u);
  const auto is = [](uint64_t flags, uint64_t address, uint64_t size) {
    const uint64_t words[] = {flags, address, size};
    return IsExtentRecord(words);
  };
  constexpr uint64_t kSlab = uint64_t{28} << 20 | 1 << 12;  // of 4 KiB
  EXPECT_TRUE(is(kLargeFlags, 0x7f0000001040, 0x5123));     // a page to begin anywhere in
  EXPECT_TRUE(is(kLargeFlags, 0x7f0000001000, 0x4000));
  EXPECT_TRUE(is(kSlab, 0x7f0000001000, 0x1000));
  EXPECT_FALSE(is(kLargeFlags, 0x7f0000001040, 0x6000)) << "another size";
  EXPECT_FALSE(is(kLargeFlags, 0x7f0000001008, 0x5000)) << "it begins with a line of the cache";
  EXPECT_FALSE(is(kLargeFlags, 0, 0x5000));
  EXPECT_FALSE(is(kLargeFlags | 1 << 17, 0x7f0000001000, 0x5000)) << "pages that are free";
  EXPECT_FALSE(is(kLargeFlags | uint64_t{1} << 50, 0x7f0000001000, 0x5000));
  EXPECT_FALSE(is(kSlab, 0x7f0000001040, 0x1000)) << "a slab begins with a page";
  EXPECT_FALSE(is(16384, 0x7f0000001000, 16384)) << "a buffer with its length on both sides";
}

TEST_F(LeakScan, NoBlocksAreNoTrouble) {
  Run(true);
  EXPECT_TRUE(result_.verdicts.empty());
  Run(false);
  EXPECT_TRUE(result_.verdicts.empty());
  roots_.heap.clear();
  Run(false);
  EXPECT_TRUE(result_.verdicts.empty());
}

TEST(LeakNames, AreThoseOfReports) {
  EXPECT_STREQ(KindName(Kind::kPossible), "possible");
  EXPECT_STREQ(HeuristicName(Heuristic::kLength64), "length64");
  EXPECT_STREQ(RootKindName(RootKind::kThreadLocal), "thread-local");
}

// Memory that is searched where it is, and ends in the midst of it.
class FailingImage final : public TestImage {
 public:
  class Half final : public WordSearch {
   public:
    explicit Half(const TestImage& image, AddressRange range) : image_(image), range_(range) {}
    bool Next(Found* found) override {
      if (!values_.empty()) return false;
      for (uint32_t i = 0; i < range_.size() / 16; ++i) {
        const uint64_t word = image_.Get(range_.start + uint64_t{8} * i);
        if (word == 0) continue;
        values_.push_back(word);
        places_.push_back(i);
      }
      *found = {values_.data(), places_.data(), values_.size(), range_.start};
      return true;
    }
    bool failed() const override { return true; }
    uint64_t searched_bytes() const override { return range_.size() / 2; }
    uint64_t unreadable_bytes() const override { return 0; }
    uint64_t cpu_ns() const override { return 1; }

   private:
    const TestImage& image_;
    AddressRange range_;
    std::vector<uint64_t> values_;
    std::vector<uint32_t> places_;
  };
  std::unique_ptr<WordSearch> Search(std::vector<AddressRange> ranges, uint64_t,
                                     uint64_t) const override {
    ++searches;
    return std::make_unique<Half>(*this, AddressRange{ranges.front().start, ranges.back().end});
  }
  mutable int searches = 0;
};

TEST(LeakSearch, WhatFailsMidwayIsReadInstead) {
  constexpr uint64_t kBlock = 8192;
  FailingImage image;
  image.Map(kGlobals, 0x1000);
  image.Map(kHeap, 200 * kBlock);
  std::vector<KnownBlock> blocks(200);
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].address = kHeap + i * kBlock;
    blocks[i].size = kBlock;
    if (i > 0) image.Put(blocks[i - 1].address, blocks[i].address);
  }
  image.Put(kGlobals, blocks[0].address);
  Roots roots;
  roots.ranges.push_back({{kGlobals, kGlobals + 0x1000}, RootKind::kData, 0, 0});
  const ScanResult result = Scan(image, blocks, true, roots, {});
  EXPECT_EQ(image.searches, 1);
  ASSERT_EQ(result.verdicts.size(), blocks.size());
  for (const Verdict& verdict : result.verdicts) EXPECT_EQ(verdict.kind, Kind::kReachable);
  EXPECT_EQ(result.scanned_bytes, 0x1000 + 200 * kBlock);
}

}  // namespace
}  // namespace heapgauge::leaks
