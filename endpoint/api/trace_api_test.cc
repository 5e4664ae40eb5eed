// What the resources say about a trace: the same as the reports of the command line.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/timeline.h"
#include "core/report/timeline_bands.h"
#include "core/trace/analysis/trace_timeline.h"
#include "endpoint/testing/one_trace.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::OneTrace;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;

MakeTrace Busy() {
  MakeTrace made;
  RandomTrace how;
  how.events = 4000;
  how.threads = 6;
  AddRandomEvents(how, &made);
  made.NameThread(0, "main");
  trace::MemoryPoint point;
  point.time_ns = 1000;
  point.resident_bytes = 5 << 20;
  point.cgroup_bytes = 6 << 20;
  point.cgroup_limit = 64 << 20;
  made.Memory(point);
  made.Mark(5000, "a mark");
  return made;
}

TEST(TraceApi, TheTimelineIsThatOfTheCommandLine) {
  OneTrace host(Busy());
  trace::TimelineRequest request;
  request.steps = 50;
  request.bands = 3;
  request.lanes = 2;
  auto made = trace::ReadTraceTimeline(*host.trace, request);
  ASSERT_TRUE(made);
  NameBands(**host.trace->ReadStacks(), &*made);
  const json expected = json::parse(TimelineJson(made->timeline));
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=50&stacks=3&threads=2"), expected);
  ASSERT_EQ(expected["threads"].size(), 3u);
  EXPECT_TRUE(expected["threads"][2]["thread"].is_null());
  EXPECT_EQ(expected["threads"][2]["threads"], 4);
  EXPECT_EQ(expected["cgroup_limit"], 64 << 20);
  EXPECT_EQ(expected["markers"][0]["text"], "a mark");
}

TEST(TraceApi, ATimelineOfAPartHasOnlyThat) {
  OneTrace host(Busy());
  const json part = host.Ask("/api/v1/timeline?from=25%25&to=50%25&steps=10&threads=1");
  EXPECT_NEAR(part["from_ns"].get<double>(), static_cast<double>(host.trace->end_ns()) / 4, 1);
  EXPECT_EQ(part["points"].size(), 10u);
  EXPECT_EQ(part["threads"][0]["over_time"]["allocated_bytes"].size(), 10u);
  EXPECT_EQ(host.Get("/api/v1/timeline?threads=101").status, 400);
  EXPECT_EQ(host.Get("/api/v1/timeline?threads=x").status, 400);
}

}  // namespace
}  // namespace heapgauge::endpoint::api
