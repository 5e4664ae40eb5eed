// Is there enough in a gauge file? On facts, and files, that were made up.

#include "core/doctor/gauge.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/gauge/testing/gauge_builder.h"

namespace heapgauge {
namespace {

constexpr double kMB = 1 << 20;

// A program that has `live` bytes in blocks of 1000 bytes, sampled at `interval`.
GaugeFacts Program(double live, uint64_t interval, double allocated_per_second = 10 * kMB) {
  GaugeFacts facts;
  facts.path = "/d/server.42.hg";
  facts.control_name = "42";
  facts.agent_version = "1";
  RecordingFacts& r = facts.summary.recording;
  r.state = RecordingState::kLive;
  r.program = "/bin/server";
  r.pid = 42;
  r.interval = r.interval_in_force = interval;
  r.max_samples_per_second = 4000;
  r.duration_ns = 3600'000'000'000;
  const SampleWeight weight = WeightOf(1000, interval);
  for (double bytes = 0; bytes + weight.bytes / 2 < live; bytes += weight.bytes) {
    facts.summary.live_bytes.Add(BytesEstimate(1000, weight));
    ++r.live_samples;
  }
  r.samples = r.live_samples * 10;
  facts.allocated_per_second = allocated_per_second;
  return facts;
}

std::string Ids(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) text += (text.empty() ? "" : " ") + finding.id;
  return text;
}

TEST(Gauge, EnoughSamplesAreOk) {
  const Findings findings = CheckGauge(Program(1000 * kMB, 512 << 10), "1");
  EXPECT_EQ(Ids(findings), "ok");
  EXPECT_EQ(HealthOf(findings), "ok");
}

TEST(Gauge, ATracedProgramIsNotSwitchedOff) {
  const auto found = [](bool RecordingFacts::*how) {
    GaugeFacts facts = Program(0, 512 << 10);
    facts.summary.recording.active = false;
    facts.summary.recording.*how = true;
    const Findings findings = CheckGauge(facts, "1");
    return Ids(findings) + ": " + HealthOf(findings);
  };
  EXPECT_EQ(found(&RecordingFacts::traced), "traced: traced");
  EXPECT_EQ(found(&RecordingFacts::trace_given_up), "trace-given-up: trace ended");
}

TEST(Gauge, SaysWhichIntervalWouldDo) {
  const Findings findings = CheckGauge(Program(40 * kMB, 512 << 10), "1");
  ASSERT_EQ(Ids(findings), "too-coarse");
  // 40 MB in about 1000 samples.
  EXPECT_EQ(findings[0].remedy, "heapgauge ctl 42 sample 32K");
  EXPECT_EQ(HealthOf(findings), "coarse");
}

TEST(Gauge, WhatIsThereAlreadyStaysCoarse) {
  GaugeFacts facts = Program(40 * kMB, 512 << 10, 1000);
  EXPECT_EQ(CheckGauge(facts, "1")[0].remedy,
            "heapgauge ctl 42 sample 32K, for what it allocates from now on, which is little; for "
            "all: start it again by heapgauge run --sample 32K");
  facts.summary.recording.state = RecordingState::kEnded;
  EXPECT_EQ(CheckGauge(facts, "1")[0].remedy, "next time: heapgauge run --sample 32K -- server");
}

TEST(Gauge, WhatWasInheritedIsNoGrowth) {
  const std::string path = ::testing::TempDir() + "inherited.hg";
  testing::GaugeBuilder b;
  b.header().start_monotonic_ns = 0;
  b.AddLive(b.AddStack({0x1000}), 1 << 20).flags = wire::kLiveInherited;
  b.header().totals.allocated_bytes = 0;
  b.WriteTo(path);
  auto facts = ReadGaugeFacts(path, 42);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_GT(facts->summary.live_bytes.value, 0);
  EXPECT_EQ(facts->growth_per_second, 0);
  b.header().totals.allocated_bytes = 1 << 20;
  b.WriteTo(path);
  facts = ReadGaugeFacts(path, 42);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_GT(facts->growth_per_second, 0);
  std::filesystem::remove(path);
}

TEST(Gauge, TheIntervalItNamesIsFineEnough) {
  for (const double live : {2 * kMB, 17 * kMB, 40 * kMB, 100 * kMB}) {
    const uint64_t better = BetterInterval(Program(live, 512 << 10));
    EXPECT_EQ(Ids(CheckGauge(Program(live, better), "1")), "ok") << live << " " << better;
    EXPECT_LE(live / static_cast<double>(better), 4000) << "and not needlessly fine";
  }
}

TEST(Gauge, LargeBlocksNeedFewSamples) {
  GaugeFacts facts = Program(0, 512 << 10);
  RecordingFacts& r = facts.summary.recording;
  const uint64_t size = 100 << 20;
  for (int i = 0; i < 5; ++i) {
    facts.summary.live_bytes.Add(BytesEstimate(size, WeightOf(size, r.interval)));
  }
  r.live_samples = r.samples = 5;
  EXPECT_EQ(Ids(CheckGauge(facts, "1")), "ok");
}

TEST(Gauge, AGrowingProgramIsToldWhen) {
  GaugeFacts facts = Program(40 * kMB, 512 << 10);
  facts.growth_per_second = 16 * kMB;  // 200 MB are wanted
  Findings findings = CheckGauge(facts, "1");
  ASSERT_EQ(Ids(findings), "few-samples ok");
  EXPECT_NE(findings[0].what.find("in about 10s"), std::string::npos) << findings[0].what;
  facts.growth_per_second = 1000;  // in two days
  EXPECT_EQ(Ids(CheckGauge(facts, "1")), "too-coarse");
  facts.summary.recording.state = RecordingState::kKilled;
  facts.growth_per_second = 16 * kMB;
  findings = CheckGauge(facts, "1");
  EXPECT_EQ(Ids(findings), "too-coarse program-gone");
  EXPECT_EQ(findings[0].remedy, "next time: heapgauge run --sample 32K -- server");
}

TEST(Gauge, TheCapOnSamplesIsKept) {
  // 900 MB/s at 4000 samples a second is one in 236 kB.
  GaugeFacts facts = Program(40 * kMB, 512 << 10, 900 * kMB);
  EXPECT_EQ(BetterInterval(facts), 256u << 10);
  facts.allocated_per_second = 1e12;
  EXPECT_EQ(BetterInterval(facts), 512u << 10) << "never coarser than now";
  const Findings findings = CheckGauge(facts, "1");
  EXPECT_EQ(Ids(findings), "too-coarse ok");
  EXPECT_EQ(findings[0].severity, Severity::kHint);
  facts.summary.recording.max_samples_per_second = 0;
  EXPECT_EQ(BetterInterval(facts), 32u << 10);
}

TEST(Gauge, CappedIsAHint) {
  GaugeFacts facts = Program(4000 * kMB, 512 << 10);
  facts.summary.recording.interval = 4096;
  const Findings findings = CheckGauge(facts, "1");
  EXPECT_EQ(Ids(findings), "rate-capped ok");
  EXPECT_EQ(HealthOf(findings), "capped");
}

TEST(Gauge, OffIsAProblemOfRunningProgramsOnly) {
  GaugeFacts facts = Program(1000 * kMB, 512 << 10);
  facts.summary.recording.active = false;
  EXPECT_TRUE(HasProblem(CheckGauge(facts, "1")));
  EXPECT_EQ(HealthOf(CheckGauge(facts, "1")), "off");
  facts.summary.recording.state = RecordingState::kEnded;
  EXPECT_FALSE(HasProblem(CheckGauge(facts, "1")));
}

TEST(Gauge, LossesAreToldByReason) {
  GaugeFacts facts = Program(1000 * kMB, 512 << 10);
  facts.summary.recording.lost = {{"busy", 3}};
  EXPECT_EQ(Ids(CheckGauge(facts, "1")), "lost-samples");
  facts.summary.recording.lost = {{"no room in the file", 100000}};
  EXPECT_EQ(Ids(CheckGauge(facts, "1")), "no-growth");
  EXPECT_TRUE(HasProblem(CheckGauge(facts, "1")));
  facts.summary.recording.lost = {{"no room in the file", 1}};
  EXPECT_FALSE(HasProblem(CheckGauge(facts, "1")));
  EXPECT_NE(CheckGauge(facts, "1")[0].remedy.find("df "), std::string::npos);
  facts.summary.recording.lacked_descriptors = true;
  EXPECT_NE(CheckGauge(facts, "1")[0].remedy.find("ulimit -n"), std::string::npos);
}

TEST(Gauge, NothingSampledIsNoCoarseness) {
  GaugeFacts facts = Program(0, 512 << 10);
  const Findings findings = CheckGauge(facts, "1");
  ASSERT_EQ(Ids(findings), "no-samples");
  EXPECT_EQ(findings[0].remedy, "heapgauge ctl 42 sample 8K");
  facts.summary.recording.interval_in_force = facts.summary.recording.interval = 1;
  EXPECT_EQ(Ids(CheckGauge(facts, "1")), "ok") << "every block is recorded: there is none";
}

TEST(Gauge, SizesAreWrittenAsCtlTakesThem) {
  EXPECT_EQ(SizeArgument(65536), "64K");
  EXPECT_EQ(SizeArgument(2 << 20), "2M");
  EXPECT_EQ(SizeArgument(1000), "1000");
}

Profile OneModule(bool has_functions, bool has_lines) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  Module module;
  module.path = "/opt/server";
  module.build_id = "abcdef";
  module.has_functions = has_functions;
  module.has_lines = has_lines;
  profile.modules.push_back(module);
  profile.functions.push_back({"server+0x10", "", ""});
  Frame frame;
  frame.function = 0;
  profile.frames.push_back(frame);
  Location location;
  location.module = 0;
  location.frame_count = 1;
  profile.locations.push_back(location);
  profile.nodes.push_back({kNone, 0});
  Row row;
  row.leaf = 0;
  profile.rows.push_back(row);
  profile.values.resize(kHeapTypes);
  profile.value(0, kInuseSpace) = 1000;
  return profile;
}

TEST(Symbols, AModuleWithoutNamesIsNamedWithItsBuildId) {
  Findings findings =
      CheckSymbols(OneModule(false, false), {"no names: '/opt/server' is another build"});
  ASSERT_EQ(Ids(findings), "no-symbols");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].evidence,
            "its build-id is abcdef; no names: '/opt/server' is another build");
  EXPECT_NE(findings[0].remedy.find(".build-id/ab/cdef.debug"), std::string::npos);
  findings = CheckSymbols(OneModule(true, false), {"about /bin/other"});
  EXPECT_EQ(findings[0].evidence.find("other"), std::string::npos);
  ASSERT_EQ(Ids(findings), "no-symbols");
  EXPECT_EQ(findings[0].severity, Severity::kHint);
  EXPECT_EQ(Ids(CheckSymbols(OneModule(true, true), {})), "");
  EXPECT_EQ(Ids(CheckSymbols(Profile(), {})), "");
}

}  // namespace
}  // namespace heapgauge
