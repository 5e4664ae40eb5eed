#include "core/leaks/verdict/exact_checks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/leaks/verdict/sampled_blocks.h"
#include "core/os/process.h"
#include "core/trace/record/recorder.h"
#include "core/trace/record/testing/traced_gauge.h"

namespace heapgauge::leaks {
namespace {

using heapgauge::testing::GaugeBuilder;
using heapgauge::testing::TracedGauge;
using trace::ClockPair;
using trace::CountingWriter;
using trace::Facts;
using trace::LeakAnswer;
using trace::LeakQuestion;
using trace::ProcessRecorder;
using trace::TakePair;
using trace::TraceWriter;

class ExactBlocksOfAProgram : public ::testing::Test {
 protected:
  ExactBlocksOfAProgram()
      : start_(TakePair(wire::TraceClock::kMonotonicNs)), gauge_(8, Builder(start_.ns)) {
    auto recorder = ProcessRecorder::Open(
        gauge_.path(), start_, {}, [this](const Facts&) -> Result<std::unique_ptr<TraceWriter>> {
          auto writer = std::make_unique<CountingWriter>(nullptr);
          writer_ = writer.get();
          return writer;
        });
    EXPECT_TRUE(recorder) << recorder.error().message;
    recorder_ = *std::move(recorder);
  }
  static GaugeBuilder Builder(uint64_t start_ns) {
    GaugeBuilder builder;
    builder.AddModule("/bin/server", 0x1000, 0x9000);
    builder.AddStack({0x1234, 0x2345});
    builder.AddStack({0x1300, 0x2345});
    builder.AddStack({0x1400, 0x2345});
    builder.header().start_monotonic_ns = start_ns;
    return builder;
  }
  std::vector<uint64_t> AddressesOf(const KnownBlocks& known, uint32_t stack) const {
    std::vector<uint64_t> addresses;
    const NodeId leaf = known.stacks.at(stack).leaf;
    for (NodeId node = leaf; node != kNone; node = known.profile.nodes[node].parent) {
      addresses.push_back(known.profile.locations[known.profile.nodes[node].location].address);
    }
    return addresses;
  }

  ClockPair start_;
  TracedGauge gauge_;
  CountingWriter* writer_ = nullptr;
  std::unique_ptr<ProcessRecorder> recorder_;
};

TEST_F(ExactBlocksOfAProgram, AreThoseThatWereNotFreedWithTheirStacks) {
  const auto thread = static_cast<uint32_t>(getpid());
  auto buffer = gauge_.Take(0, 1, thread);
  const uint64_t first = MonotonicNow();
  buffer.Allocate(first, 0x9000, 100, 1);
  buffer.Allocate(first + 1, 0x5000, 40, 3);
  buffer.Allocate(first + 2, 0x7000, 0, 3);
  buffer.Free(first + 3, 0x9000);
  recorder_->CatchUp();
  const KnownBlocks known = ExactBlocks(recorder_.get());
  EXPECT_TRUE(known.exact);
  ASSERT_EQ(known.blocks.size(), 2U);
  EXPECT_EQ(known.blocks[0].address, 0x5000U);
  EXPECT_EQ(known.blocks[0].size, 40U);
  EXPECT_EQ(known.blocks[0].thread, thread);
  EXPECT_EQ(known.blocks[0].birth_ns, first + 1 - start_.ns);
  EXPECT_EQ(known.blocks[0].weight, 1.0);
  EXPECT_EQ(known.blocks[1].address, 0x7000U);
  EXPECT_EQ(known.blocks[1].stack, known.blocks[0].stack);
  EXPECT_EQ(AddressesOf(known, known.blocks[0].stack), (std::vector<uint64_t>{0x1400, 0x2345}));
  // Nothing else is to be named.
  EXPECT_EQ(known.profile.nodes.size(), 2U);
  EXPECT_EQ(writer_->usage().allocations, 3U);
  EXPECT_EQ(writer_->usage().frees, 1U);
  EXPECT_EQ(writer_->usage().allocated_bytes, 140U);
}

TEST_F(ExactBlocksOfAProgram, AreNotExactAfterEventsWereLost) {
  gauge_.header().trace.lost = 1;
  recorder_->CatchUp();
  EXPECT_FALSE(ExactBlocks(recorder_.get()).exact);
}

TEST_F(ExactBlocksOfAProgram, NeverOverlap) {
  auto buffer = gauge_.Take(0, 1, 1);
  const uint64_t first = MonotonicNow();
  // Frees of the first two were not seen.
  buffer.Allocate(first, 0x5000, 0x1000, 1);
  buffer.Allocate(first + 1, 0x5800, 16, 1);
  buffer.Allocate(first + 2, 0x4ff8, 0x10, 1);
  buffer.Allocate(first + 3, 0x7ff0, 0x40, 1);
  recorder_->CatchUp();
  const KnownBlocks known = ExactBlocks(recorder_.get());
  for (size_t i = 1; i < known.blocks.size(); ++i) {
    const KnownBlock& before = known.blocks[i - 1];
    EXPECT_LE(before.address + before.size, known.blocks[i].address);
  }
  EXPECT_EQ(known.blocks.size(), 3U);
}

TEST(DistinctBlocks, AreAllThereIfTheirPlacesAreNotKnown) {
  std::vector<KnownBlock> blocks(3);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].size = 100 + i;
  blocks[1].address = 0x1000;
  EXPECT_EQ(MakeDistinct(&blocks), 0U);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[2].address, 0x1000U);
}

TEST_F(ExactBlocksOfAProgram, SurviveStacksThatMakeNoSense) {
  auto buffer = gauge_.Take(0, 1, 1);
  buffer.Allocate(MonotonicNow(), 0xff'ffff'ffff'fff0, UINT64_MAX, 4'000'000'000U);
  recorder_->CatchUp();
  const KnownBlocks known = ExactBlocks(recorder_.get());
  ASSERT_EQ(known.blocks.size(), 1U);
  EXPECT_EQ(known.blocks[0].stack, 0U);
  EXPECT_EQ(known.stacks.at(0).leaf, kNone);
  EXPECT_GE(known.blocks[0].address + known.blocks[0].size, known.blocks[0].address);
}

TEST_F(ExactBlocksOfAProgram, AreKnownUpToTheMomentOfTheQuestion) {
  auto buffer = gauge_.Take(0, 1, 1);
  for (uint64_t i = 0; i < 500; ++i) {
    buffer.Allocate(MonotonicNow(), 0x10000 + i * 64, 64, 1);
    recorder_->CatchUp();
    ASSERT_EQ(ExactBlocks(recorder_.get()).blocks.size(), i + 1);
  }
}

TEST_F(ExactBlocksOfAProgram, QuestionsAreAnsweredOnce) {
  EXPECT_FALSE(recorder_->question());
  wire::LeakControl& leaks = gauge_.header().leaks;
  leaks.check_reason = static_cast<uint32_t>(wire::CheckReason::kScope);
  leaks.check_since = start_.ns + 5'000;
  leaks.check_thread = 77;
  leaks.check_requests = 1;
  const auto question = recorder_->question();
  ASSERT_TRUE(question);
  EXPECT_EQ(question->reason, wire::CheckReason::kScope);
  EXPECT_EQ(question->since_ns, 5'000U);
  EXPECT_EQ(question->thread, 77U);
  LeakAnswer answer;
  answer.lost_bytes = 11;
  recorder_->Answer(question->number, answer);
  EXPECT_EQ(leaks.check_answers, 1U);
  EXPECT_EQ(leaks.lost_bytes, 11U);
  EXPECT_FALSE(recorder_->question());
}

}  // namespace
}  // namespace heapgauge::leaks
