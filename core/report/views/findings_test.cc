#include "core/report/views/findings.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

std::vector<ProfileFinding> Find(const Profile& profile, const MemorySurvey* survey = nullptr) {
  FunctionOptions options;
  options.flat_only = true;
  const auto report = AggregateFunctions(profile, options);
  EXPECT_TRUE(report);
  return FindingsOf(profile, *report, survey);
}

std::vector<std::string> Texts(const std::vector<ProfileFinding>& findings) {
  std::vector<std::string> texts;
  for (const ProfileFinding& finding : findings) texts.push_back(finding.text);
  return texts;
}

Maker Server() {
  Maker m;
  const auto main_ = m.Function("main");
  m.Row({m.Function("Cache::insert(int)"), main_}, 60 << 20, 60 << 20);
  m.Row({m.Function("Table::load()"), main_}, 30 << 20, 300 << 20);
  m.Row({m.Function("Request::read()"), main_}, 1 << 20, 900 << 20);
  m.Row({m.Function("small()"), main_}, 2 << 20, 2 << 20);
  m.profile().default_type = kInuseSpace;
  m.profile().recording.duration_ns = 10'000'000'000;
  return m;
}

TEST(Findings, SayWhoGrowsWhoHoldsAndWhoChurns) {
  Maker m = Server();
  const std::vector<ProfileFinding> findings = Find(m.profile());
  EXPECT_EQ(
      Texts(findings),
      (std::vector<std::string>{
          "Request::read allocated 900 MB, 71.3% of all, and freed it again: 90.0 MB a second",
          "Cache::insert grew to 60.0 MB in 10s, 64.5% of the live heap, and nothing of it was "
          "freed",
          "Table::load holds 30.0 MB, 32.3% of the live heap"}));
  EXPECT_EQ(findings[1].function, "Cache::insert(int)");
  EXPECT_TRUE(findings[0].allocated);
  EXPECT_FALSE(findings[1].allocated);
}

TEST(Findings, DoNotBuildOnAFewSamples) {
  Maker m = Server();
  m.profile().recording.interval = 512 << 10;
  m.profile().recording.pid = 42;
  m.profile().recording.live_samples = 4;
  m.profile().recording.lost = {{"table full", 7}};
  EXPECT_EQ(
      Texts(Find(m.profile())),
      (std::vector<std::string>{
          "7 samples found no room, about 0 B: heapgauge doctor 42 says why",
          "The figures rest on 4 live samples: ranges are wide; heapgauge ctl 42 sample 64K takes "
          "more"}));
  for (Row& row : m.profile().rows) row.samples = row.live_samples = 100;
  EXPECT_EQ(Find(m.profile()).size(), 5u);
}

TEST(Findings, TellWhatTheAllocatorKeeps) {
  MemorySurvey survey;
  survey.allocator = wire::Allocator::kGlibc;
  survey.accounting.resident = 100 << 20;
  survey.accounting.parts[static_cast<size_t>(Part::kFree)] = 40 << 20;
  EXPECT_EQ(
      Texts(Find(Profile(), &survey)),
      (std::vector<std::string>{
          "40.0 MB of the 100 MB in memory is free in glibc: kept for later, nobody uses it"}));
  survey.accounting.parts[static_cast<size_t>(Part::kFree)] = 10 << 20;
  EXPECT_TRUE(Find(Profile(), &survey).empty());
}

}  // namespace
}  // namespace heapgauge
