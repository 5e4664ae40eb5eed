#include "core/trace/file/trace_facts.h"

#include <gtest/gtest.h>

#include "core/trace/answer/trace_profile.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::MakeTrace;

Facts Whole() {
  Facts facts;
  facts.complete = true;
  return facts;
}

TEST(TraceGaps, AWholeTraceHasNone) { EXPECT_TRUE(GapsOf(Whole(), false).empty()); }

TEST(TraceGaps, OneWithoutAnEndIsToldByWhyItHasNone) {
  Facts facts;
  EXPECT_EQ(GapsOf(facts, false).at(0),
            "the trace has no end: its recorder was killed, or the file was cut off");
  EXPECT_TRUE(GapsOf(facts, true).empty()) << "it is told where the file cannot be read";
  facts.being_written = true;
  EXPECT_EQ(GapsOf(facts, false).at(0), "the trace is being written: these are the figures so far");
}

TEST(TraceGaps, WhatIsNotInItIsCounted) {
  Facts facts = Whole();
  facts.lost_events = 1;
  facts.missed_frees = 2;
  facts.culled_blocks = 3;
  facts.culled_bytes = 3000;
  facts.culled_below_ns = 5'000'000;
  EXPECT_EQ(GapsOf(facts, false),
            (std::vector<std::string>{
                "1 event found no room and is missing: figures are not exact",
                "3 blocks (2.9 kB) that lived shorter than 5ms were left out when the trace was "
                "recorded; chains of reallocs are cut there",
                "2 frees were not seen: their blocks end where the address was used again"}));
}

TEST(TraceGaps, WhyEventsFoundNoRoomIsTold) {
  Facts facts = Whole();
  facts.lost_events = 2;
  facts.recording.lacked_descriptors = true;
  ASSERT_EQ(GapsOf(facts, false).size(), 1u);
  EXPECT_EQ(GapsOf(facts, false)[0],
            "2 events found no room and are missing, because the program had no file descriptor "
            "left: figures are not exact");
}

TEST(TraceGaps, AProgramThatWentOnUntracedIsTold) {
  MakeTrace made;
  made.facts.complete = true;
  made.facts.untraced_from_ns = 2'000'000'000;
  made.Allocate(1, 0, 100, made.Stack({"main"}));
  const auto trace = made.Open();
  EXPECT_EQ(trace->facts().untraced_from_ns, 2'000'000'000u);
  EXPECT_TRUE(trace->facts().recording.has_gaps);
  ASSERT_EQ(trace->notes().size(), 1u);
  EXPECT_NE(trace->notes()[0].find("no longer traced from 2s on"), std::string::npos)
      << trace->notes()[0];
}

TEST(TraceGaps, FreesOfUnknownBlocksAreToldWhereTheyShouldBeKnown) {
  Facts facts = Whole();
  facts.unknown_frees = 3;
  EXPECT_EQ(GapsOf(facts, false),
            (std::vector<std::string>{
                "3 frees were of blocks that the trace does not know: these allocations, and "
                "perhaps others, were not seen by the agent"}));
  facts.recording.forked = true;
  EXPECT_TRUE(GapsOf(facts, false).empty()) << "its parent's";
  facts.recording.forked = false;
  facts.lost_events = 5;
  EXPECT_EQ(GapsOf(facts, false).size(), 1u) << "lost with the events";
}

TEST(TraceGaps, TraceAndProfileTellThem) {
  MakeTrace made;
  made.facts.lost_events = 7;
  made.Allocate(1, 0, 100, made.Stack({"main"}));
  const auto trace = made.Open();
  ASSERT_EQ(trace->notes().size(), 1u);
  EXPECT_NE(trace->notes()[0].find("7 events"), std::string::npos);
  const auto profile = ReadTraceProfile(*trace, {});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->notes, trace->notes());
}

TEST(TraceGaps, EventsThatAreLostMakeItInexact) {
  for (uint64_t Facts::*const missing :
       {&Facts::culled_blocks, &Facts::lost_events, &Facts::missed_frees}) {
    MakeTrace made;
    made.facts.*missing = 7;
    made.Allocate(1, 0, 100, made.Stack({"main"}));
    const auto trace = made.Open();
    EXPECT_TRUE(trace->facts().recording.has_gaps);
    EXPECT_FALSE(trace->facts().breaks_off);
    const auto profile = ReadTraceProfile(*trace, {});
    ASSERT_TRUE(profile);
    EXPECT_TRUE(profile->recording.exact);
    EXPECT_TRUE(profile->recording.has_gaps);
    EXPECT_EQ(profile->recording.lost_samples(), missing == &Facts::lost_events ? 7u : 0u);
  }
}

TEST(TraceGaps, AWholeTraceIsExactToAllWhoAsk) {
  const auto trace = MakeTrace().Open();
  EXPECT_TRUE(trace->facts().recording.exact);
  EXPECT_FALSE(trace->facts().recording.has_gaps);
  EXPECT_FALSE(ReadTraceProfile(*trace, {})->recording.has_gaps);
}

}  // namespace
}  // namespace heapgauge::trace
