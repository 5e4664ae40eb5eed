#include "core/memory/accounting.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heapgauge {
namespace {

constexpr uint64_t kMb = 1 << 20;

Piece Of(Owner owner, uint64_t resident) {
  Piece piece;
  piece.owner = owner;
  piece.resident = resident;
  return piece;
}

uint64_t Sum(const Accounting& a) {
  return std::accumulate(a.parts.begin(), a.parts.end(), uint64_t{0});
}

// 100 MB of live blocks of 1000 bytes, known to about 10 %.
AccountingInput Example() {
  AccountingInput input;
  input.allocator = wire::Allocator::kJemalloc;
  input.agent_ranges_known = true;
  for (int i = 0; i < 200; ++i) {
    const SampleWeight weight = WeightOf(1000, 512 * 1024);
    input.live.bytes.Add(BytesEstimate(1000, weight));
    input.live.objects += weight.objects;
    input.live.rounding += 24 * weight.objects;
    ++input.live.samples;
  }
  input.live.interval = 512 * 1024;
  input.live.resident = input.live.bytes.value;
  input.live.rounding_resident = input.live.rounding;
  input.pieces = {
      Of(Owner::kHeap, 150 * kMb), Of(Owner::kStack, kMb),      Of(Owner::kProgram, 9 * kMb),
      Of(Owner::kFile, 2 * kMb),   Of(Owner::kShared, 3 * kMb), Of(Owner::kAgent, kMb),
      Of(Owner::kKernel, 4096),    Of(Owner::kMapped, 5 * kMb), Of(Owner::kUnknown, 7 * kMb)};
  return input;
}

wire::AllocatorStatistics InUse(uint64_t bytes) {
  wire::AllocatorStatistics statistics{};
  statistics.in_use_bytes = bytes;
  statistics.mask = kHasInUse;
  return statistics;
}

TEST(Accounting, PartsAddUp) {
  const AccountingInput input = Example();
  const Accounting a = Account(input);
  EXPECT_EQ(a.resident, 178 * kMb + 4096);
  EXPECT_EQ(Sum(a), a.resident);
  EXPECT_NEAR(static_cast<double>(a.part(Part::kLive)), input.live.bytes.value, 1);
  EXPECT_EQ(a.part(Part::kFree), 150 * kMb - a.part(Part::kLive) - a.part(Part::kRounding));
  EXPECT_EQ(a.part(Part::kStacks), kMb);
  EXPECT_EQ(a.part(Part::kMapped), 5 * kMb);
  EXPECT_EQ(a.part(Part::kRest), 7 * kMb);
}

TEST(Accounting, TheAllocatorsCountCorrectsTheEstimateWithinItsRange) {
  AccountingInput input = Example();
  const double truth = input.live.bytes.value * 1.03;
  input.statistics = InUse(static_cast<uint64_t>(truth + input.live.rounding));
  const Accounting a = Account(input);
  EXPECT_EQ(Sum(a), a.resident);
  EXPECT_NEAR(static_cast<double>(a.part(Part::kLive)), truth, 2);
  EXPECT_EQ(a.part(Part::kNotSampled), 0u);
}

TEST(Accounting, WhatTheProfileCannotKnowIsAPartOfItsOwn) {
  AccountingInput input = Example();
  input.statistics = InUse(140 * kMb);
  const Accounting a = Account(input);
  EXPECT_EQ(Sum(a), a.resident);
  EXPECT_NEAR(static_cast<double>(a.part(Part::kLive)), a.live_range.high, 2);
  EXPECT_GT(a.part(Part::kNotSampled), 10 * kMb);
}

TEST(Accounting, LiveMemoryThatWasNeverTouchedIsNotResident) {
  AccountingInput input = Example();
  input.live.bytes.Add(BytesEstimate(900 * kMb, WeightOf(900 * kMb, 512 * 1024)));
  const Accounting touched = Account(input);
  EXPECT_FALSE(touched.live_is_capped);
  EXPECT_EQ(Sum(touched), touched.resident);
  input.live.resident = input.live.bytes.value;  // nothing is known about pages
  const Accounting capped = Account(input);
  EXPECT_TRUE(capped.live_is_capped);
  EXPECT_EQ(Sum(capped), capped.resident);
  EXPECT_LE(capped.part(Part::kLive), capped.heap_resident);
  EXPECT_EQ(capped.part(Part::kFree), 0u);
}

TEST(Accounting, StatisticsClaimMappingsWithoutSamples) {
  AccountingInput input = Example();
  wire::AllocatorStatistics statistics{};
  statistics.resident_bytes = 154 * kMb;
  statistics.mask = kHasResident;
  input.statistics = statistics;
  const Accounting a = Account(input);
  EXPECT_EQ(a.heap_by_statistics, 4 * kMb);
  EXPECT_EQ(a.part(Part::kRest), 3 * kMb);
  EXPECT_EQ(Sum(a), a.resident);
  input.heap_is_complete = true;
  EXPECT_EQ(Account(input).part(Part::kRest), 7 * kMb);
}

TEST(Accounting, SumsAloneAddUpToo) {
  const AccountingInput input = Example();
  ProcessStatus status;
  status.resident = 200 * kMb;
  status.anonymous = 160 * kMb;
  status.file = 30 * kMb;
  status.shared = 9 * kMb;  // a megabyte came in between
  wire::AllocatorStatistics statistics{};
  statistics.free_bytes = 20 * kMb;
  statistics.mask = kHasFree;
  const Accounting a =
      AccountCoarsely(status, input.live, input.allocator, statistics, kMb, 2 * kMb, 5 * kMb);
  EXPECT_TRUE(a.coarse);
  EXPECT_EQ(Sum(a), 200 * kMb);
  EXPECT_EQ(a.part(Part::kAgent), 3 * kMb);
  EXPECT_EQ(a.part(Part::kShared), 7 * kMb);
  EXPECT_EQ(a.part(Part::kFree), 20 * kMb);
  EXPECT_EQ(a.part(Part::kMapped), 5 * kMb);
  EXPECT_EQ(Sum(AccountCoarsely({}, input.live, input.allocator, {}, kMb, kMb, kMb)), 0u);
  status = {};
  status.resident = kMb;  // a timeline knows no more
  EXPECT_EQ(Sum(AccountCoarsely(status, input.live, input.allocator, {}, kMb, kMb, kMb)), kMb);
}

TEST(Growth, IsTheSlopeOfTheLastPoints) {
  std::vector<TimelinePoint> timeline;
  EXPECT_FALSE(GrowthOf(timeline).known());
  timeline.resize(9);  // one moment
  EXPECT_FALSE(GrowthOf(timeline).known());
  timeline.clear();
  for (uint64_t i = 0; i < 300; ++i) {
    TimelinePoint point;
    point.time_ns = i * 1'000'000'000;
    point.resident_bytes = i < 150 ? 5 * kMb : 5 * kMb + (i - 150) * 1000;
    timeline.push_back(point);
  }
  const Growth growth = GrowthOf(timeline);
  EXPECT_TRUE(growth.of_resident);
  EXPECT_NEAR(growth.seconds, 120, 1e-6);
  EXPECT_NEAR(growth.bytes_per_second, 1000, 1e-6);
}

}  // namespace
}  // namespace heapgauge
