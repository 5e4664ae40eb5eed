#include "core/trace/answer/trace_moment.h"

#include <gtest/gtest.h>

#include "core/trace/answer/trace_question.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;

constexpr uint64_t kSecond = 1'000'000'000;

MakeTrace TenSeconds() {
  MakeTrace made;
  const uint32_t stack = made.Stack({"main"});
  const uint64_t block = made.Allocate(2 * kSecond, 0, 100, stack);
  made.Free(4 * kSecond, block);
  made.facts.recording.duration_ns = 10 * kSecond;
  return made;
}

TEST(TraceMoment, ReadsWhatPeopleWrite) {
  const auto trace = TenSeconds().Open();
  const std::pair<const char*, uint64_t> cases[] = {
      {"start", 0},
      {"end", 10 * kSecond},
      {"peak", 2 * kSecond},
      {"1.5s", kSecond * 3 / 2},
      {"250ms", kSecond / 4},
      {"3us", 3000},
      {"7ns", 7},
      {"3", 3 * kSecond},
      {"1m30s", 90 * kSecond},
      {"2h", 7200 * kSecond},
      {"12:30", 750 * kSecond},
      {"1:00:01.5", 3601 * kSecond + kSecond / 2},
      {"40%", 4 * kSecond},
      {"peak-100ms", 2 * kSecond - kSecond / 10},
      {"end-4s", 6 * kSecond},
      {"start+1s", kSecond},
      {"peak-2s", 0},
  };
  for (const auto& [text, ns] : cases) {
    const auto at = ParseMoment(*trace, text);
    ASSERT_TRUE(at) << text << ": " << at.error().message;
    EXPECT_EQ(at->time_ns, ns) << text;
  }
  for (const char* text : {"", "soon", "-1s", "1x", "s", "101%", "%", "1:60", "1:2:3:4", "peak-",
                           "1s-2s", "nan", "1e400s", "99999999999h", "12:"}) {
    EXPECT_FALSE(ParseMoment(*trace, text)) << text;
  }
}

TEST(TraceMoment, WhatIsPrintedCanBeRead) {
  const auto trace = TenSeconds().Open();
  const std::pair<uint64_t, const char*> cases[] = {{0, "0s"},
                                                    {850, "850ns"},
                                                    {12'345, "12.345us"},
                                                    {250'000'000, "250ms"},
                                                    {12'345'678'901, "12.346s"},
                                                    {185'200'000'000, "3m05.2s"},
                                                    {8'047'000'000'000, "2h14m07s"}};
  for (const auto& [ns, text] : cases) {
    EXPECT_EQ(FormatMoment(ns), text);
    EXPECT_NEAR(static_cast<double>(ParseMoment(*trace, text)->time_ns), static_cast<double>(ns),
                1e6);
  }
}

TEST(TraceMoment, SharesOfAForkedProcessCountFromTheFork) {
  MakeTrace made = TenSeconds();
  made.facts.recording.forked = true;
  made.facts.recording.forked_ns = 6 * kSecond;
  const auto trace = made.Open();
  const auto time_of = [&](const char* text) { return ParseMoment(*trace, text).value().time_ns; };
  EXPECT_EQ(time_of("start"), 6 * kSecond);
  EXPECT_EQ(time_of("0%"), 6 * kSecond);
  EXPECT_EQ(time_of("50%"), 8 * kSecond);
  EXPECT_EQ(time_of("100%"), 10 * kSecond);
  EXPECT_EQ(time_of("start+1s"), 7 * kSecond);
  EXPECT_EQ(time_of("7s"), 7 * kSecond) << "times are those of its parent";
  EXPECT_TRUE(ParseMoment(*trace, "5s")->is_start()) << "there was nothing yet";
}

TEST(TraceMoment, BeforeTheStartIsNone) {
  MakeTrace made = TenSeconds();
  const auto trace = made.Open();
  for (const char* text : {"peak-2001ms", "end-1h", "start-1ns"}) {
    const auto early = ParseMoment(*trace, text);
    ASSERT_FALSE(early) << text;
    EXPECT_EQ(early.error().message.find(std::string(text) + " is before the start of "), 0u)
        << early.error().message;
    EXPECT_TRUE(ParseRange(*trace, text, "3s")->from.is_start()) << "a range may begin there";
    EXPECT_FALSE(ParseRange(*trace, "", text)) << "but not end";
  }
  made.facts.recording.forked = true;
  made.facts.recording.forked_ns = 1 * kSecond;
  const auto forked = ParseMoment(*made.Open(), "peak-1100ms");
  ASSERT_FALSE(forked);
  EXPECT_NE(forked.error().message.find("which is at 1s"), std::string::npos);
}

TEST(TraceMoment, TheStartIsBeforeWhatHappensAtItsTime) {
  MakeTrace made;
  made.Allocate(0, 0, 100, made.Stack({"main"}));
  made.Allocate(5, 0, 10, made.Stack({"main"}));
  const auto trace = made.Open();
  for (const char* text : {"start", "0s", "0", "0%"}) {
    EXPECT_TRUE(ParseMoment(*trace, text)->is_start()) << text;
  }
  EXPECT_FALSE(ParseMoment(*trace, "1ns")->is_start());
}

TEST(TraceMoment, ThePeakIsThatOfWhatIsAskedAbout) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"main"});
  const uint64_t block = made.Allocate(10, 0, 5000, stack);
  made.Free(10, block);
  const uint64_t mapping = made.Map(20, 0, 4096, stack);
  made.Allocate(30, 0, 1000, stack);
  made.Free(40, mapping);
  const auto trace = made.Open();
  EXPECT_EQ(*ParseMoment(*trace, "peak"), (TraceMoment{10, 1})) << "after its event";
  EXPECT_EQ(*ParseMoment(*trace, "peak", true), (TraceMoment{20, 3}));
  EXPECT_EQ(*ParseMoment(*trace, "peak", std::nullopt), (TraceMoment{30, 4}));
  EXPECT_EQ(ParseMoment(*trace, "peak-5ns", true)->time_ns, 15u);
  EXPECT_TRUE(ParseMoment(*TenSeconds().Open(), "peak", true)->is_start()) << "there is none";
}

TEST(TraceMoment, LengthsOfTimeAreReadTheSameWay) {
  EXPECT_EQ(ParseDuration("2m30s").value(), 150 * kSecond);
  EXPECT_EQ(ParseDuration("10 ms").value(), kSecond / 100);
  EXPECT_FALSE(ParseDuration("peak"));
}

TEST(TraceMoment, PeaksOfRangesAreThoseOfTheEvents) {
  MakeTrace made;
  RandomTrace how;
  how.events = 1500;
  how.greatest_pause_ns = 2;
  AddRandomEvents(how, &made);
  const auto trace = made.Open();
  const size_t segments = trace->segments().size();
  ASSERT_GT(segments, 4u);
  const auto& events = made.events();
  const auto position = [&](size_t event) {
    for (size_t i = 0; i < segments; ++i) {
      const SegmentInfo& info = trace->segments()[i];
      if (event < info.first_event + info.events) {
        return Position{i, static_cast<uint32_t>(event - info.first_event)};
      }
    }
    return Position{segments, 0};
  };
  for (const Mappings mappings : {Mappings(false), Mappings(true), Mappings()}) {
    const auto size = [&](uint64_t number) -> uint64_t {
      if (number == kNoBlock || !CountsIn(made.blocks()[number], mappings)) return 0;
      return made.blocks()[number].size;
    };
    std::vector<uint64_t> live{0};
    for (const auto& event : events) {
      live.push_back(live.back() + size(event.born) - size(event.died));
    }
    for (size_t begin = 0; begin <= events.size(); begin += 97) {
      for (size_t end = begin; end <= events.size(); end += 61) {
        EdgeSegments edges(*trace, nullptr);
        const auto peak = PeakBetween(*trace, position(begin), position(end), mappings, &edges);
        ASSERT_TRUE(peak);
        size_t best = begin;
        for (size_t i = begin; i <= end; ++i) best = live[i] > live[best] ? i : best;
        EXPECT_EQ(peak->bytes, live[best]) << begin << " " << end;
        EXPECT_EQ(peak->at, position(best)) << begin << " " << end;
      }
    }
  }
}

TEST(TraceMoment, QuestionsBecomeRequests) {
  const auto trace = TenSeconds().Open();
  Question question;
  EXPECT_FALSE(question.any());
  EXPECT_TRUE(question.only_peak_or_end());
  question.at = "peak";
  EXPECT_TRUE(question.any());
  EXPECT_TRUE(question.only_peak_or_end());
  EXPECT_TRUE(RequestOf(question, *trace)->at_peak);
  question.at = "3s";
  EXPECT_FALSE(question.only_peak_or_end());
  EXPECT_EQ(RequestOf(question, *trace)->range.to, TraceMoment::At(3 * kSecond));
  EXPECT_EQ(RequestOf(question, *trace)->MomentText(), "at 3s");
  question.at = "11s";
  const auto late = RequestOf(question, *trace);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("behind the end"), std::string::npos);
  question.from = "1s";
  question.at = "3s";
  EXPECT_FALSE(RequestOf(question, *trace)) << "a moment and a range";
  question.at = "";
  question.to = "1h";
  EXPECT_TRUE(RequestOf(question, *trace)->range.to.is_end()) << "a range may end with the trace";
  EXPECT_EQ(RequestOf(question, *trace)->MomentText(), "from 1s to the end");
  question.from = "peak";
  EXPECT_EQ(RequestOf(question, *trace)->MomentText(), "from the peak (2s) to the end");
  question.from = question.to = "start";
  EXPECT_EQ(RequestOf(question, *trace)->MomentText(), "at the start");
}

}  // namespace
}  // namespace heapgauge::trace
