#include "core/leaks/verdict/loss_records.h"

#include <gtest/gtest.h>

#include "core/fold/statistics.h"
#include "core/leaks/testing/make_check.h"
#include "core/leaks/verdict/suppressions.h"

namespace heapgauge::leaks {
namespace {

using testing::CheckMaker;

TEST(LossRecords, AreBlocksOfOneKindAndStack) {
  CheckMaker m;
  const uint32_t a = m.Stack({"malloc", "A()", "main"});
  const uint32_t b = m.Stack({"malloc", "B()", "main"});
  m.Block(a, 100, Kind::kDefinite);
  m.Block(a, 50, Kind::kDefinite);
  m.Block(a, 7, Kind::kReachable);
  m.Block(b, 1000, Kind::kPossible);
  const LossRecords result = MakeLossRecords(m.check(), {});
  ASSERT_EQ(result.records.size(), 3u);
  EXPECT_EQ(result.records[0].kind, Kind::kReachable);
  EXPECT_EQ(result.records[1].kind, Kind::kDefinite);
  EXPECT_EQ(result.records[1].own.bytes.value, 150);
  EXPECT_EQ(result.records[1].own.blocks.value, 2);
  EXPECT_EQ(result.records[1].stack_total.known, 3u);
  EXPECT_EQ(result.records[1].block, 0u);
  EXPECT_EQ(result.records[2].kind, Kind::kPossible);
  EXPECT_EQ(result.records[2].number, 3u);
  EXPECT_EQ(result.record_of, (std::vector<uint32_t>{1, 1, 0, 2}));
  EXPECT_EQ(result.of(Kind::kDefinite).bytes.value, 150);
  EXPECT_EQ(result.in_use.bytes.value, 1157);
}

TEST(LossRecords, AddWhatALeaderTakesAlongToItsRecord) {
  CheckMaker m;
  const uint32_t list = m.Stack({"List()", "main"});
  const uint32_t node = m.Stack({"Node()", "main"});
  const uint32_t head = m.Block(list, 48, Kind::kDefinite);
  m.Block(node, 16, Kind::kIndirect, head);
  m.Block(node, 16, Kind::kIndirect, head);
  const LossRecords result = MakeLossRecords(m.check(), {});
  ASSERT_EQ(result.records.size(), 2u);
  const LossRecord& leader = result.records[1];
  EXPECT_EQ(leader.own.bytes.value, 48);
  EXPECT_EQ(leader.indirect.bytes.value, 32);
  EXPECT_EQ(leader.indirect.blocks.value, 2);
  EXPECT_EQ(result.records[0].kind, Kind::kIndirect);
  EXPECT_EQ(result.records[0].own.bytes.value, 32);
  EXPECT_EQ(result.records[0].indirect.bytes.value, 0);
}

TEST(LossRecords, AreSortedByBytesThenDefiniteFirst) {
  CheckMaker m;
  const uint32_t a = m.Stack({"A()", "main"});
  const uint32_t b = m.Stack({"B()", "main"});
  const uint32_t c = m.Stack({"C()", "main"});
  m.Block(a, 10, Kind::kReachable);
  m.Block(b, 10, Kind::kDefinite);
  m.Block(c, 9, Kind::kReachable);
  const LossRecords result = MakeLossRecords(m.check(), {});
  EXPECT_EQ(result.records[0].stack, c);
  EXPECT_EQ(result.records[1].stack, b);
  EXPECT_EQ(result.records[2].stack, a);
}

TEST(LossRecords, JoinStacksThatAgreeInTheFramesThatCount) {
  CheckMaker m;
  const std::vector<std::string> inner = {"operator new(unsigned long)", "f1", "f2", "f3"};
  std::vector<std::string> x = inner;
  x.insert(x.end(), {"x4", "main"});
  std::vector<std::string> y = inner;
  y.insert(y.end(), {"y4", "main"});
  m.Block(m.Stack(x), 1, Kind::kDefinite);
  m.Block(m.Stack(y), 1, Kind::kDefinite);
  m.Block(m.Stack({"malloc", "f1", "g2", "main"}), 1, Kind::kDefinite);
  EXPECT_EQ(MakeLossRecords(m.check(), {Resolution::kHigh, nullptr}).records.size(), 3u);
  EXPECT_EQ(MakeLossRecords(m.check(), {Resolution::kMedium, nullptr}).records.size(), 3u);
  EXPECT_EQ(MakeLossRecords(m.check(), {Resolution::kLow, nullptr}).records.size(), 2u);
}

TEST(LossRecords, WeighSampledBlocksAndKnowHowSureTheyAre) {
  CheckMaker m;
  m.check().known.exact = false;
  const uint32_t a = m.Stack({"A()", "main"});
  for (int i = 0; i < 37; ++i) {
    m.Block(a, 4096, Kind::kDefinite, kNoBlock, 128.5, static_cast<uint64_t>(i));
  }
  for (int i = 0; i < 3; ++i) m.Block(a, 4096, Kind::kReachable, kNoBlock, 128.5);
  const Check& check = m.check();
  const LossRecords result = MakeLossRecords(check, {});
  const LossRecord& record = result.records.back();
  EXPECT_EQ(record.own.known, 37u);
  EXPECT_EQ(record.stack_total.known, 40u);
  EXPECT_DOUBLE_EQ(record.own.bytes.value, 37 * 4096 * 128.5);
  const Interval range = Interval95(record.own.bytes);
  // 37 Poisson samples: 26.1 to 51.0.
  EXPECT_NEAR(range.low / record.own.bytes.value, 26.1 / 37, 0.05);
  EXPECT_NEAR(range.high / record.own.bytes.value, 51.0 / 37, 0.05);
  EXPECT_EQ(OldestAge(check, record), 36 * CheckMaker::kSecond);
  EXPECT_EQ(NewestAge(check, record), 0u);
}

TEST(LossRecords, AreExactWhereAllBlocksAreKnown) {
  CheckMaker m;
  m.Block(m.Stack({"A()"}), 123, Kind::kDefinite);
  const LossRecords result = MakeLossRecords(m.check(), {});
  const Interval range = Interval95(result.of(Kind::kDefinite).bytes);
  EXPECT_EQ(range.low, 123);
  EXPECT_EQ(range.high, 123);
}

TEST(LossRecords, CountHeuristicsApart) {
  CheckMaker m;
  const uint32_t a = m.Stack({"A()"});
  m.Block(a, 10, Kind::kReachable);
  m.Block(a, 20, Kind::kReachable);
  m.check().verdicts[1].heuristic = Heuristic::kNewArray;
  const LossRecords result = MakeLossRecords(m.check(), {});
  EXPECT_EQ(result.heuristics[static_cast<size_t>(Heuristic::kNewArray)].bytes.value, 20);
  EXPECT_EQ(result.records[0].heuristic, Heuristic::kNone);
}

TEST(LossRecords, PutWhatIsSuppressedIntoNoKind) {
  CheckMaker m;
  const uint32_t a = m.Stack({"Head()", "main"});
  const uint32_t b = m.Stack({"Tail()", "main"});
  const uint32_t head = m.Block(a, 10, Kind::kDefinite);
  m.Block(b, 20, Kind::kIndirect, head);
  Suppressions valgrind;
  ASSERT_TRUE(valgrind.AddText("{\n x\n Memcheck:Leak\n fun:Head*\n}\n", "x"));
  LossRecords result = MakeLossRecords(m.check(), {Resolution::kHigh, &valgrind});
  EXPECT_EQ(result.suppressed.bytes.value, 10);
  EXPECT_EQ(result.of(Kind::kDefinite).known, 0u);
  EXPECT_EQ(result.of(Kind::kIndirect).bytes.value, 20);
  // LeakSanitizer silences what hangs on the block as well.
  Suppressions lsan;
  ASSERT_TRUE(lsan.AddText("leak:Head\n", "x"));
  result = MakeLossRecords(m.check(), {Resolution::kHigh, &lsan});
  EXPECT_EQ(result.suppressed.bytes.value, 30);
  EXPECT_EQ(result.of(Kind::kIndirect).known, 0u);
}

TEST(LossRecords, TakeBlocksForReachableWhereMemoryWasNotSeen) {
  CheckMaker m;
  m.Block(m.Stack({"A()"}), 123, Kind::kDefinite);
  m.check().verdicts.clear();
  const LossRecords result = MakeLossRecords(m.check(), {});
  EXPECT_EQ(result.of(Kind::kReachable).bytes.value, 123);
}

TEST(LossRecords, HaveAPlaceForBlocksOfUnknownStacks) {
  CheckMaker m;
  m.check().known.stacks.push_back({kNone, kNone});
  m.Block(0, 5, Kind::kDefinite);
  m.Block(0, 6, Kind::kDefinite);
  const LossRecords result = MakeLossRecords(m.check(), {Resolution::kLow, nullptr});
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.records[0].own.bytes.value, 11);
}

TEST(LeakKinds, AreReadAsPeopleWriteThem) {
  EXPECT_EQ(*ParseKinds("definite,possible"), Bit(Kind::kDefinite) | Bit(Kind::kPossible));
  EXPECT_EQ(*ParseKinds("all"), kAllKinds);
  EXPECT_EQ(*ParseKinds("none"), 0u);
  EXPECT_EQ(*ParseKinds("reachable,definite"), Bit(Kind::kReachable) | Bit(Kind::kDefinite));
  EXPECT_EQ(ParseKinds("definite,lost").error().message,
            "'lost' is no kind of leak (reachable, possible, indirect, definite, all, none)");
  EXPECT_FALSE(ParseKinds(""));
  EXPECT_FALSE(ParseKinds("definite,"));
  EXPECT_EQ(*ParseHeuristics("length64"), 1u << static_cast<uint32_t>(Heuristic::kLength64));
  EXPECT_EQ(*ParseHeuristics("all"), 0x1eu);
  EXPECT_FALSE(ParseHeuristics("none,length64"));
}

}  // namespace
}  // namespace heapgauge::leaks
