// Traces that are read while they are written.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/trace/answer/trace_profile.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/trace_writer.h"
#include "core/trace/testing/expect_trace.h"
#include "core/trace/testing/growing_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::ExpectAllSame;
using testing::GrowingTrace;
using testing::MakeTrace;
using testing::RandomTrace;

MakeTrace Random(uint64_t seed) {
  MakeTrace made;
  made.options.segment_events = 100;
  RandomTrace how;
  how.seed = seed;
  how.events = 3000;
  AddRandomEvents(how, &made);
  return made;
}

std::shared_ptr<const TraceFile> Opened(const std::string& path) {
  auto trace = TraceFile::Open(path);
  EXPECT_TRUE(trace) << trace.error().message;
  return *trace;
}

std::shared_ptr<const TraceFile> Renewed(const std::shared_ptr<const TraceFile>& trace) {
  auto renewed = trace->Renew();
  EXPECT_TRUE(renewed) << renewed.error().message;
  return *renewed;
}

std::vector<std::string> BeingWritten() {
  return {"the trace is being written: these are the figures so far"};
}

TEST(GrowingTrace, IsFollowedUpToItsEnd) {
  GrowingTrace growing(Random(1));
  auto trace = Opened(growing.path());
  EXPECT_TRUE(trace->facts().being_written);
  EXPECT_EQ(trace->facts().recording.state, RecordingState::kLive);
  EXPECT_EQ(trace->events(), 0u);
  EXPECT_EQ(Renewed(trace), trace);
  for (size_t events = 250; events < growing.events(); events += 250) {
    growing.writer().AddMemory({events, 5 << 20, 0, 0, 0, 0, 0});
    growing.WriteUpTo(events);
    const auto renewed = Renewed(trace);
    ASSERT_NE(renewed, trace);
    EXPECT_EQ(renewed->events(), events);
    EXPECT_EQ(renewed->memory().size(), events / 250);
    EXPECT_EQ(renewed->threads().size(), growing.made().threads().size());
    EXPECT_TRUE(renewed->facts().being_written);
    EXPECT_EQ(renewed->notes(), BeingWritten());
    // As if it were opened now.
    const auto anew = Opened(growing.path());
    EXPECT_EQ(renewed->segments().size(), anew->segments().size());
    EXPECT_EQ(renewed->end_ns(), anew->end_ns());
    // Those who have the one before go on with it.
    if (events > 250) {
      std::vector<StackSums> sums;
      EXPECT_EQ(trace->events(), events - 250);
      EXPECT_TRUE(trace->ReadSums(trace->segments().size() - 1, &sums));
    }
    trace = renewed;
  }
  growing.Finish();
  trace = Renewed(trace);
  EXPECT_FALSE(trace->facts().being_written);
  EXPECT_TRUE(trace->facts().complete);
  EXPECT_EQ(trace->facts().recording.state, RecordingState::kEnded);
  EXPECT_TRUE(trace->notes().empty());
  EXPECT_EQ(Renewed(trace), trace);
  Segment segment;
  for (size_t i = 0; i < trace->segments().size(); ++i) {
    ASSERT_TRUE(trace->ReadSegment(i, kEverything, &segment));
  }
  testing::ExpectSameTrace(growing.made(), *trace, kEverything);
}

TEST(GrowingTrace, OneWhoseWriterWasKilledHasNoEnd) {
  GrowingTrace growing(Random(2));
  growing.WriteUpTo(300);
  auto trace = Opened(growing.path());
  EXPECT_TRUE(trace->facts().being_written);
  growing.Abandon();
  trace = Renewed(trace);
  EXPECT_FALSE(trace->facts().being_written);
  EXPECT_FALSE(trace->facts().complete);
  EXPECT_EQ(trace->facts().recording.state, RecordingState::kUnknown);
  EXPECT_EQ(trace->events(), 300u);
  EXPECT_EQ(Renewed(trace), trace);
}

TEST(GrowingTrace, AChunkThatIsHalfWrittenIsNoDamage) {
  GrowingTrace growing(Random(3));
  growing.WriteUpTo(200);
  const auto trace = Opened(growing.path());
  const int fd = open(growing.path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string half(50, 'x');
  ASSERT_EQ(write(fd, half.data(), half.size()), 50);
  close(fd);
  EXPECT_EQ(Renewed(trace), trace);
  EXPECT_EQ(Opened(growing.path())->notes(), BeingWritten());
  // Without a writer it is.
  growing.Abandon();
  const auto left = Renewed(trace);
  EXPECT_EQ(left->events(), 200u);
  ASSERT_EQ(left->notes().size(), 1u);
  EXPECT_NE(left->notes()[0].find("50 bytes"), std::string::npos) << left->notes()[0];
}

TEST(GrowingTrace, IsNotReplacedWhileItIsWritten) {
  const MakeTrace made = Random(6);
  GrowingTrace growing(made);
  growing.WriteUpTo(1000);
  const auto other = TraceWriter::Create(growing.path(), {}, {}, /*replace=*/true);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("is being written by another recorder"), std::string::npos);
  EXPECT_FALSE(Opened(growing.path())->segments().empty());
}

TEST(GrowingTrace, AnotherTraceInItsPlaceIsReadAnew) {
  GrowingTrace growing(Random(4));
  growing.WriteUpTo(1000);
  auto trace = Opened(growing.path());
  const MakeTrace other = Random(5);
  growing.Abandon();
  ASSERT_TRUE(other.Write(growing.path()));
  trace = Renewed(trace);
  EXPECT_TRUE(trace->facts().complete);
  ExpectAllSame(other, *trace);
}

TEST(GrowingTrace, AnswersThatGoOnAreThoseOfANewStart) {
  for (const uint64_t stacks_at_once : {uint64_t{0}, uint64_t{1}, uint64_t{4}, uint64_t{1000}}) {
    GrowingTrace growing(Random(6));
    auto trace = Opened(growing.path());
    const uint64_t budget = stacks_at_once * trace->stack_count() * sizeof(StackTotal);
    auto answers = std::make_unique<TraceAnswers>(trace, NameStacks(), budget);
    for (size_t events = 150; events < growing.events(); events += 350) {
      growing.WriteUpTo(events);
      trace = Renewed(trace);
      answers = std::make_unique<TraceAnswers>(trace, answers.get());
      for (const TraceValue value :
           {TraceValue::kLive, TraceValue::kLifetime, TraceValue::kGrowth}) {
        ProfileRequest request;
        request.value = value;
        request.range.from = TraceMoment::At(trace->end_ns() / 3);
        const auto got = answers->Ask(request);
        const auto right = ReadTraceProfile(*Opened(growing.path()), request);
        ASSERT_TRUE(got && right);
        EXPECT_EQ(got->values, right->values) << events << " events, budget " << budget;
      }
    }
  }
}

}  // namespace
}  // namespace heapgauge::trace
