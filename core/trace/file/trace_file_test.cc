#include "core/trace/file/trace_file.h"

#include <gtest/gtest.h>

#include "core/trace/testing/expect_trace.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::ExpectAllSame;
using testing::ExpectSameSurvivors;
using testing::ExpectSameTrace;
using testing::MakeTrace;
using testing::RandomTrace;

TEST(TraceFile, AnEmptyTraceHasNothing) {
  const MakeTrace made;
  const auto trace = made.Open();
  EXPECT_TRUE(trace->segments().empty());
  EXPECT_TRUE(trace->facts().complete);
  EXPECT_EQ(trace->facts().recording.program, "/made/program");
  ExpectAllSame(made, *trace);
}

TEST(TraceFile, OneEventComesBack) {
  MakeTrace made;
  made.Allocate(7, 0, 100, made.Stack({"f", "main"}));
  const auto trace = made.Open();
  ASSERT_EQ(trace->segments().size(), 1);
  EXPECT_EQ(trace->segments()[0].peak_bytes, 100);
  ExpectAllSame(made, *trace);
}

TEST(TraceFile, RandomTracesComeBackInEveryCombinationOfParts) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    MakeTrace made;
    made.options.segment_events = static_cast<uint32_t>(100 + seed * 331);
    RandomTrace how;
    how.seed = seed;
    AddRandomEvents(how, &made);
    const auto trace = made.Open();
    ExpectAllSame(made, *trace);
    for (uint32_t parts = 0; parts <= kEverything; ++parts) ExpectSameTrace(made, *trace, parts);
  }
}

TEST(TraceFile, PiecesOfMappingsKnowWhatTheyWereMadeOf) {
  for (const bool listed : {true, false}) {
    MakeTrace made;
    made.write_survivors = listed;
    RandomTrace how;
    how.mappings = 0.5;
    how.cuts = 0.5;
    AddRandomEvents(how, &made);
    const auto trace = made.Open();
    ExpectAllSame(made, *trace);
    for (uint32_t parts = 0; parts <= kEverything; ++parts) ExpectSameTrace(made, *trace, parts);
  }
}

TEST(TraceFile, WithoutSurvivorsInTheFileTheyAreFound) {
  MakeTrace made;
  made.write_survivors = false;
  AddRandomEvents({}, &made);
  ExpectSameSurvivors(made, *made.Open());
}

TEST(TraceFile, SurvivorsComeInPortions) {
  for (const bool listed : {true, false}) {
    MakeTrace made;
    made.write_survivors = listed;
    AddRandomEvents({}, &made);
    const auto trace = made.Open();
    const auto reader = trace->ReadSurvivors();
    std::vector<uint64_t> numbers;
    std::vector<Block> portion;
    for (;;) {
      const auto any = reader->Next(&portion);
      ASSERT_TRUE(any) << any.error().message;
      if (!*any) break;
      if (!listed) {
        EXPECT_LE(portion.size(), made.options.segment_events);
      }
      for (const Block& block : portion) numbers.push_back(block.number);
    }
    EXPECT_TRUE(portion.empty());
    std::vector<uint64_t> expected;
    for (const Block& block : made.blocks()) {
      if (block.is_live()) expected.push_back(block.number);
    }
    EXPECT_EQ(numbers, expected) << listed;
    const auto again = reader->Next(&portion);
    ASSERT_TRUE(again);
    EXPECT_FALSE(*again);
  }
}

TEST(TraceFile, AFileWithoutItsEndIsRead) {
  MakeTrace made;
  made.finish = false;
  AddRandomEvents({}, &made);
  const auto trace = made.Open();
  EXPECT_FALSE(trace->facts().complete);
  ExpectAllSame(made, *trace);
}

TEST(TraceFile, StacksHaveTheirNamesModulesAndLabels) {
  MakeTrace made;
  const uint32_t plain = made.Stack({"f", "main"});
  const uint16_t set = made.LabelSet("request", "7");
  const uint32_t labelled = made.Stack({{"g", "g.cc", 42, "/lib/libg.so"}, "main"}, set);
  const auto trace = made.Open();
  ASSERT_EQ(trace->stack_count(), 3);
  const auto stacks = trace->ReadStacks();
  ASSERT_TRUE(stacks) << stacks.error().message;
  const Profile& profile = (*stacks)->profile;
  ASSERT_TRUE(profile.Check()) << profile.Check().error().message;
  const auto leaf = [&](uint32_t stack) -> const Location& {
    return profile.locations[profile.nodes[(*stacks)->stacks[stack].leaf].location];
  };
  ASSERT_EQ(leaf(plain).frame_count, 1);
  EXPECT_EQ(profile.functions[profile.frames[leaf(plain).first_frame].function].name, "f");
  const Frame& frame = profile.frames[leaf(labelled).first_frame];
  EXPECT_EQ(profile.functions[frame.function].name, "g");
  EXPECT_EQ(profile.functions[frame.function].file, "g.cc");
  EXPECT_EQ(frame.line, 42);
  EXPECT_EQ(profile.modules[leaf(labelled).module].path, "/lib/libg.so");
  EXPECT_EQ((*stacks)->stacks[plain].labels, kNone);
  const LabelSet& labels = profile.label_sets[(*stacks)->stacks[labelled].labels];
  ASSERT_EQ(labels.count, 1);
  EXPECT_EQ(profile.strings[profile.labels[labels.first].key], "request");
  EXPECT_EQ(profile.strings[profile.labels[labels.first].text], "7");
}

TEST(TraceFile, ThreadsMemoryAndMarkersComeBack) {
  MakeTrace made;
  made.NameThread(1, "worker", 77);
  made.Memory({5, 1000, 900, 800, 1, 2000, 3000});
  made.Memory({9, 1100, 850, 0, 0, 1900, 3000});
  made.Mark(6, "request begins");
  const auto trace = made.Open();
  ASSERT_EQ(trace->threads().size(), 2);
  EXPECT_EQ(trace->threads()[1].name, "worker");
  EXPECT_EQ(trace->threads()[1].id, 77);
  ASSERT_EQ(trace->memory().size(), 2);
  EXPECT_EQ(trace->memory()[1].anonymous_bytes, 850);
  EXPECT_EQ(trace->memory()[0].cgroup_limit, 3000);
  ASSERT_EQ(trace->markers().size(), 1);
  EXPECT_EQ(trace->markers()[0].text, "request begins");
}

}  // namespace
}  // namespace heapgauge::trace
