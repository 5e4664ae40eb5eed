#include "core/trace/answer/lifetimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;

TEST(LifetimeScale, StepsHoldWhatTheirNamesSay) {
  const auto name = [](uint64_t ns) {
    return std::string(LifetimeSteps()[LifetimeStepOf(ns)].name);
  };
  EXPECT_EQ(name(0), "<1us");
  EXPECT_EQ(name(999), "<1us");
  EXPECT_EQ(name(1'000), "<10us");
  EXPECT_EQ(name(999'999), "<1ms");
  EXPECT_EQ(name(1'000'000), "<10ms");
  EXPECT_EQ(name(59'999'999'999), "<1min");
  EXPECT_EQ(name(60'000'000'000), "<10min");
  EXPECT_EQ(name(600'000'000'000), "<1h");
  EXPECT_EQ(name(3'600'000'000'000), ">1h");
  EXPECT_EQ(name(UINT64_MAX), ">1h");
}

TEST(LifetimeScale, FineStepsFollowEachOtherAndAreNarrow) {
  for (size_t i = 0; i < kFineSteps; ++i) {
    const uint64_t begin = FineStepBegin(i);
    const uint64_t end = FineStepEnd(i);
    ASSERT_LT(begin, end) << i;
    EXPECT_EQ(FineStepOf(begin), i);
    EXPECT_EQ(FineStepOf(end - 1), i);
    if (i > 0) {
      EXPECT_GE(StepOfFine(i), StepOfFine(i - 1));
    }
    if (begin >= 100 && i + 1 < kFineSteps) {
      EXPECT_LT(static_cast<double>(end) / static_cast<double>(begin), 1.17) << begin;
    }
  }
}

TEST(LifetimeScale, SizeClassesEndAtPowersOfTwo) {
  EXPECT_EQ(SizeClassOf(0), 0u);
  EXPECT_EQ(SizeClassOf(1), 0u);
  EXPECT_EQ(SizeClassOf(2), 1u);
  EXPECT_EQ(SizeClassOf(16), 4u);
  EXPECT_EQ(SizeClassOf(17), 5u);
  EXPECT_EQ(SizeClassOf(UINT64_MAX), 64u);
  EXPECT_EQ(SizeClassEnd(4), 16u);
}

MakeTrace Random(uint64_t seed, uint32_t events = 5000) {
  MakeTrace made;
  RandomTrace how;
  how.seed = seed;
  how.events = events;
  how.greatest_pause_ns = 2'000'000;  // lifetimes over many steps
  AddRandomEvents(how, &made);
  return made;
}

BlockGroups GroupsOf(const TraceFile& trace, GroupBy by) {
  return {**trace.ReadStacks(), by, trace.threads().size()};
}

// The same by the list of blocks.
struct Oracle {
  LifetimeSums total;
  std::map<uint32_t, LifetimeSums> groups;
  std::map<std::pair<size_t, size_t>, BlockCount> cells;

  template <typename Wanted>
  Oracle(const MakeTrace& made, const BlockGroups& by, const Wanted& wanted) {
    for (const Block& block : made.blocks()) {
      if (!wanted(block)) continue;
      total.Add(block);
      groups[by.Of(block)].Add(block);
      size_t step = kNeverFreedStep;
      if (!block.is_live()) {
        step = 0;
        const uint64_t lifetime = block.death_ns - block.birth_ns;
        while (step < kLongestStep && lifetime >= LifetimeSteps()[step].end_ns) ++step;
      }
      cells[{SizeClassOf(block.size), step}].Add(block.size);
    }
  }
};

void ExpectSame(const LifetimeSums& a, const LifetimeSums& b) {
  EXPECT_EQ(a.all, b.all);
  EXPECT_EQ(a.never_freed, b.never_freed);
  EXPECT_EQ(a.temporary, b.temporary);
  EXPECT_TRUE(a.lifetime_sum == b.lifetime_sum);
}

void ExpectSame(const LifetimeReport& report, const Oracle& oracle) {
  ExpectSame(report.total, oracle.total);
  EXPECT_EQ(report.groups, oracle.groups.size());
  for (size_t i = 0; i < kSizeClasses; ++i) {
    for (size_t j = 0; j < kLifetimeSteps; ++j) {
      const auto found = oracle.cells.find({i, j});
      const BlockCount expected = found == oracle.cells.end() ? BlockCount() : found->second;
      EXPECT_EQ(report.cells[i][j], expected) << i << " " << j;
    }
  }
  for (const LifetimeRow& row : report.rows) {
    ExpectSame(row.sums, oracle.groups.at(row.group));
    BlockCount sum;
    for (const BlockCount& step : row.histogram.steps) sum.Add(step);
    EXPECT_EQ(sum, row.sums.all);
  }
}

TEST(Lifetimes, AreThoseOfTheListOfBlocks) {
  for (const GroupBy by :
       {GroupBy::kFunction, GroupBy::kStack, GroupBy::kModule, GroupBy::kThread}) {
    const MakeTrace made = Random(1 + static_cast<uint64_t>(by));
    const auto trace = made.Open();
    const BlockGroups groups = GroupsOf(*trace, by);
    LifetimeRequest request;
    request.rows = 1000;
    const auto report = ReadLifetimes(*trace, groups, request);
    ASSERT_TRUE(report) << report.error().message;
    const Oracle oracle(made, groups, [](const Block& b) { return !b.is_mapping; });
    ExpectSame(*report, oracle);
    ASSERT_EQ(report->rows.size(), oracle.groups.size());
    EXPECT_TRUE(std::is_sorted(report->rows.begin(), report->rows.end(),
                               [](const LifetimeRow& a, const LifetimeRow& b) {
                                 return a.sums.all.blocks > b.sums.all.blocks;
                               }));
  }
}

TEST(Lifetimes, OfManyGroupsAreTheSameInTwoPasses) {
  const MakeTrace made = Random(7);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace, GroupBy::kStack);
  LifetimeRequest request;
  request.rows = 10;
  request.sort = LifetimeSort::kBytes;
  const auto once = ReadLifetimes(*trace, groups, request);
  request.max_histograms = 12;
  const auto twice = ReadLifetimes(*trace, groups, request);
  ASSERT_TRUE(once && twice);
  ASSERT_GT(groups.size(), request.max_histograms);
  ASSERT_EQ(twice->rows.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(once->rows[i].group, twice->rows[i].group);
    EXPECT_EQ(once->rows[i].histogram.steps, twice->rows[i].histogram.steps);
    EXPECT_EQ(once->rows[i].histogram.fine, twice->rows[i].histogram.fine);
  }
}

TEST(Lifetimes, WithAFilterCountOnlyWhatItLeaves) {
  const MakeTrace made = Random(3);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace, GroupBy::kFunction);
  BlockFilter filter;
  filter.least_size = 100;
  filter.least_lifetime_ns = 1'000'000;
  const auto matcher = Matcher::Compile(filter, *trace, **trace->ReadStacks());
  ASSERT_TRUE(matcher);
  LifetimeRequest request;
  request.matcher = &*matcher;
  const auto report = ReadLifetimes(*trace, groups, request);
  ASSERT_TRUE(report);
  const Oracle oracle(made, groups, [&](const Block& b) {
    return !b.is_mapping && b.size >= 100 && b.lifetime_ns(made.end_ns()) >= 1'000'000;
  });
  ASSERT_GT(oracle.total.all.blocks, 0u);
  ExpectSame(*report, oracle);
}

TEST(Lifetimes, PercentilesAreNearTheTrueOnes) {
  const MakeTrace made = Random(5, 20'000);
  const auto trace = made.Open();
  const auto report = ReadLifetimes(*trace, GroupsOf(*trace, GroupBy::kFunction), {});
  ASSERT_TRUE(report);
  std::vector<uint64_t> lifetimes;
  for (const Block& block : made.blocks()) {
    if (!block.is_mapping && !block.is_live()) lifetimes.push_back(block.lifetime_ns(0));
  }
  std::sort(lifetimes.begin(), lifetimes.end());
  for (const double p : {0.3, 0.5, 0.9, 0.99}) {
    const auto truth = static_cast<double>(
        lifetimes[static_cast<size_t>(p * static_cast<double>(lifetimes.size()))]);
    EXPECT_NEAR(report->histogram.Percentile(p), truth, 0.16 * truth + 10) << p;
  }
}

TEST(Lifetimes, NoPercentileIsBeyondWhatWasSeen) {
  Block block;
  block.birth_ns = 5;
  block.death_ns = block.birth_ns + 10'103'711;
  LifetimeHistogram histogram;
  histogram.Add(block);
  for (const double p : {0.01, 0.5, 0.99}) EXPECT_EQ(histogram.Percentile(p), 10'103'711);
  LifetimeHistogram both;
  both.Add(histogram);
  block.death_ns = block.birth_ns + 11'000'000;
  both.Add(block);
  EXPECT_GE(both.Percentile(0.01), 10'103'711);
  EXPECT_LE(both.Percentile(0.99), 11'000'000);
}

TEST(Lifetimes, OfAnEmptyTraceAreNone) {
  MakeTrace made;
  const auto trace = made.Open();
  const auto report = ReadLifetimes(*trace, GroupsOf(*trace, GroupBy::kFunction), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->total.all.blocks, 0u);
  EXPECT_EQ(report->histogram.Percentile(0.5), 0);
  EXPECT_TRUE(report->rows.empty());
}

}  // namespace
}  // namespace heapgauge::trace
