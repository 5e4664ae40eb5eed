// What a profile of a trace says of itself, and how it is asked for while the trace grows.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "core/fold/measures.h"
#include "core/trace/answer/trace_profile.h"
#include "core/trace/testing/all_values.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::kAllValues;
using testing::MakeTrace;

TEST(TraceProfileFacts, TellsWhatItIsAbout) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"leaf", "main"});
  const uint64_t first = made.Allocate(1'000'000'000, 0, 100, stack);
  made.Allocate(2'000'000'000, 0, 50, stack);
  made.Free(3'000'000'000, first);
  const auto file = made.Open();
  ProfileRequest request;
  request.value = TraceValue::kFreed;
  request.range.from = TraceMoment::At(1'500'000'000);
  request.filter.least_size = 64;
  const auto profile = ReadTraceProfile(*file, request);
  ASSERT_TRUE(profile);
  const RecordingFacts& r = profile->recording;
  EXPECT_TRUE(r.exact);
  EXPECT_EQ(r.interval, 0u);
  EXPECT_EQ(r.moment, "from 1.5s to the end");
  EXPECT_EQ(r.filter, "at least 64 B");
  EXPECT_EQ(profile->comments,
            std::vector<std::string>{"Figures: from 1.5s to the end; at least 64 B"})
      << "for other tools";
  EXPECT_TRUE(ReadTraceProfile(*file, ProfileRequest())->comments.empty());
  EXPECT_EQ(r.samples, 2u);
  EXPECT_TRUE(r.has_peak);
  EXPECT_EQ(r.peak_bytes, 150u);
  EXPECT_EQ(r.peak_ns, 2'000'000'000u);
  const Measures m = MeasuresOf(*profile);
  EXPECT_EQ(m.name, "freed");
  EXPECT_EQ(profile->sample_types[m.main].name, "freed_space");
  EXPECT_EQ(profile->sample_types[m.objects].name, "freed_objects");
  EXPECT_FALSE(m.has_samples) << "exact figures have no range";
  ASSERT_EQ(profile->rows.size(), 1u);
  EXPECT_EQ(profile->value(0, m.main), 100);
  EXPECT_FALSE(profile->timeline.empty());
}

TEST(TraceProfileFacts, ARangeThatEndsBeforeItBeginsIsAnError) {
  MakeTrace made;
  made.Allocate(50, 0, 16, 0);
  ProfileRequest request;
  request.range.from = TraceMoment::At(100);
  request.range.to = TraceMoment::At(50);
  const auto profile = ReadTraceProfile(*made.Open(), request);
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("ends before it begins"), std::string::npos);
}

TEST(TraceProfileFacts, AnEmptyTraceIsAnEmptyProfile) {
  const auto file = MakeTrace().Open();
  for (const TraceValue value : kAllValues) {
    ProfileRequest request;
    request.value = value;
    request.at_peak = value == TraceValue::kLive;
    const auto profile = ReadTraceProfile(*file, request);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_TRUE(profile->rows.empty());
  }
}

TEST(TraceProfileFacts, CountsStacksThatWereCutWhateverIsAskedFor) {
  MakeTrace made;
  made.Allocate(1, 0, 100, made.Stack({"deep", "deep"}));
  made.Allocate(2, 0, 100, made.Stack({"f", "main"}));
  const auto file = made.Open();
  TraceFile::Stacks stacks = **file->ReadStacks();
  ProfileRequest request;
  request.filter.least_size = 1000;
  for (const bool is_cut : {false, true}) {
    stacks.stacks[1].truncated = is_cut;
    const auto answer = FigureStacks(*file, stacks, request, SumsIndex(), nullptr, nullptr);
    ASSERT_TRUE(answer) << answer.error().message;
    const auto profile = ProfileOf(*file, stacks, request, *answer);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(profile->recording.truncated_walks, is_cut ? 1u : 0u);
  }
}

TEST(TraceProfileFacts, ValuesHaveNames) {
  for (const TraceValue value : kAllValues) EXPECT_EQ(ParseValue(ValueName(value)).value(), value);
  EXPECT_FALSE(ParseValue("most"));
}

TEST(TraceAnswers, OfAGrownTraceDoNotWaitForNamesOfTheOneBefore) {
  MakeTrace made;
  AddRandomEvents({}, &made);
  const auto trace = made.Open();
  std::promise<void> naming, go_on;
  TraceAnswers before(trace, [&](Profile*) {
    naming.set_value();
    go_on.get_future().wait();
  });
  std::thread other([&] { EXPECT_TRUE(before.Prepare()); });
  naming.get_future().wait();
  TraceAnswers after(trace, &before);
  go_on.set_value();
  other.join();
  EXPECT_EQ(&after.trace(), trace.get());
}

}  // namespace
}  // namespace heapgauge::trace
