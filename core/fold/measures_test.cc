#include "core/fold/measures.h"

#include <gtest/gtest.h>

#include "core/fold/functions.h"
#include "core/fold/statistics.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

Profile With(std::vector<SampleType> types, std::vector<int64_t> values) {
  Maker m;
  m.Row({m.Function("malloc"), m.Function("f"), m.Function("main")}, 1);
  Profile p = m.profile();
  p.sample_types = std::move(types);
  p.values = std::move(values);
  p.rows[0].samples = p.rows[0].live_samples = 0;
  return p;
}

TEST(Measures, HeapProfilesOfAllToolsAreAboutLiveBytes) {
  EXPECT_EQ(MeasuresOf(With(HeapSampleTypes(), {1, 2, 3, 4})).main, kInuseSpace);
  EXPECT_EQ(MeasuresOf(With(MmapSampleTypes(), {1, 2, 3, 4})).main, kInuseSpace);
  const Measures two = MeasuresOf(With({{"objects", "count"}, {"space", "bytes"}}, {1, 2}));
  EXPECT_EQ(two.main, 1u);
  EXPECT_EQ(two.objects, 0u);
  EXPECT_FALSE(two.has_allocated());
  EXPECT_TRUE(two.is_memory);
}

TEST(Measures, OtherProfilesAreAboutTheirDefaultType) {
  Profile cpu = With({{"samples", "count"}, {"cpu", "nanoseconds"}}, {3, 30'000'000});
  const Measures last = MeasuresOf(cpu);
  EXPECT_EQ(last.name, "cpu");
  EXPECT_EQ(last.unit, "nanoseconds");
  EXPECT_FALSE(last.is_memory);
  ASSERT_TRUE(ChooseType("samples", &cpu));
  EXPECT_EQ(MeasuresOf(cpu).name, "samples");
  // malloc is a place where time can go.
  const auto report = AggregateFunctions(cpu, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(cpu.functions[report->rows[0].function].name, "malloc");
  EXPECT_EQ(report->rows[0].flat.live_bytes.value, 3);
}

TEST(Measures, ObjectsEverAllocatedCanBeAskedFor) {
  Profile p = With(HeapSampleTypes(), {7, 700, 3, 300});
  ASSERT_TRUE(ChooseType("alloc_objects", &p));
  const Measures m = MeasuresOf(p);
  EXPECT_EQ(m.main, kAllocObjects);
  EXPECT_EQ(m.unit, "count");
  ASSERT_TRUE(ChooseType("alloc_space", &p));
  EXPECT_EQ(MeasuresOf(p).main, kInuseSpace) << "both columns are shown";
}

TEST(ChooseType, KnowsNumbersAndOldNamesAndTellsWhatThereIs) {
  Profile p = With({{"objects", "count"}, {"space", "bytes"}}, {1, 2});
  EXPECT_TRUE(ChooseType("inuse_objects", &p));
  EXPECT_EQ(p.default_type, 0u);
  EXPECT_TRUE(ChooseType("1", &p));
  EXPECT_EQ(p.default_type, 1u);
  const Status bad = ChooseType("cpu", &p);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("objects, space"), std::string::npos);
}

TEST(EstimateFromPeriod, GivesTheRangeThatTheSamplesBehindTheFiguresAllow) {
  // Ten samples of 4 kB at one in 512 kB: what a writer that scales makes of them.
  const SampleWeight one = WeightOf(4096, 512 << 10);
  Profile p = With({{"objects", "count"}, {"space", "bytes"}},
                   {static_cast<int64_t>(10 * one.objects), static_cast<int64_t>(10 * one.bytes)});
  p.period = 512 << 10;
  p.period_type = {"space", "bytes"};
  EstimateFromPeriod(&p);
  ASSERT_TRUE(p.Check()) << p.Check().error().message;
  const Estimate made = p.estimate(0, 1);
  EXPECT_NEAR(made.variance, 10 * one.bytes_variance, 0.01 * 10 * one.bytes_variance);
  EXPECT_NEAR(made.floor, 10 * 4096, 10);
  const Interval range = Interval95(made);
  EXPECT_LT(range.low, 0.6 * made.value);
  EXPECT_GT(range.high, 1.7 * made.value);
}

TEST(EstimateFromPeriod, LeavesExactProfilesAlone) {
  Profile p = With({{"objects", "count"}, {"space", "bytes"}}, {5, 50});
  p.period = 1;
  p.period_type = {"space", "bytes"};
  EstimateFromPeriod(&p);
  EXPECT_TRUE(p.estimates.empty());
  p.period = 10'000'000;
  p.period_type = {"cpu", "nanoseconds"};
  EstimateFromPeriod(&p);
  EXPECT_TRUE(p.estimates.empty());
}

}  // namespace
}  // namespace heapgauge
