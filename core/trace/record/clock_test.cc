#include "core/trace/record/clock.h"

#include <gtest/gtest.h>

#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(ClockOfATrace, GoesThroughThePairs) {
  ClockConverter converter(wire::TraceClock::kCycleCounter, {3000, 1'000'000'000});
  converter.Add({3000 + 30 * kMs, 1'000'000'000 + 10 * kMs});  // 3 GHz
  converter.Add({3000 + 60 * kMs, 1'000'000'000 + 30 * kMs});  // 1.5 GHz
  EXPECT_EQ(converter.ToNs(3000), 1'000'000'000U);
  EXPECT_NEAR(static_cast<double>(converter.ToNs(3000 + 15 * kMs)), 1e9 + 5e6, 1);
  EXPECT_NEAR(static_cast<double>(converter.ToNs(3000 + 45 * kMs)), 1e9 + 20e6, 1);
  // Behind the last one at the last rate.
  EXPECT_NEAR(static_cast<double>(converter.ToNs(3000 + 75 * kMs)), 1e9 + 40e6, 1);
}

TEST(ClockOfATrace, IsRightBeforeTheFirstPair) {
  ClockConverter converter(wire::TraceClock::kCycleCounter, {100 * kMs, 50 * kMs});
  converter.Add({120 * kMs, 60 * kMs});
  EXPECT_NEAR(static_cast<double>(converter.ToNs(80 * kMs)), 40e6, 1);
}

// Two minutes of a program that calls all the time; the rate of no millisecond is quite that of
// all.
TEST(ClockOfATrace, KnowsAMomentThatIsLongPast) {
  ClockConverter converter(wire::TraceClock::kCycleCounter, {0, 0});
  const auto ns_at = [](uint64_t i) { return i * kMs + (i * 7919 % 5) * 20; };
  for (uint64_t i = 1; i <= 120'000; ++i) {
    converter.Add({i * 3 * kMs, ns_at(i)});
    converter.ToNs(i * 3 * kMs);
  }
  for (uint64_t i = 1; i < 120'000; i += 977) {
    const uint64_t raw = i * 3 * kMs + kMs;
    EXPECT_NEAR(static_cast<double>(converter.ToNs(raw)), static_cast<double>(ns_at(i)) + 1e6 / 3,
                100)
        << i;
  }
  // And what comes next is as right as before.
  EXPECT_NEAR(static_cast<double>(converter.ToNs(120'000 * 3 * kMs)),
              static_cast<double>(ns_at(120'000)), 1);
}

TEST(ClockOfATrace, NeverGoesBackWhilePairsComeAndGo) {
  ClockConverter converter(wire::TraceClock::kCycleCounter, {0, 0});
  uint64_t last = 0;
  for (uint64_t i = 1; i < 20'000; ++i) {
    converter.Add({i * 3 * kMs, i * kMs + i % 7 * 1000});
    for (uint64_t step = 0; step < 3; ++step) {
      const uint64_t ns = converter.ToNs((i - 1) * 3 * kMs + step * kMs);
      ASSERT_GE(ns + 1, last);
      last = ns;
    }
  }
}

TEST(ClockOfATrace, ThisMachinesClockFollowsTheKernels) {
  const wire::TraceClock clock = BestClock();
  ClockConverter converter(clock, TakePair(clock));
  const uint64_t until = MonotonicNow() + 20 * kMs;
  while (MonotonicNow() < until) continue;
  converter.Add(TakePair(clock));
  const uint64_t raw = ReadClock(clock);
  const uint64_t now = MonotonicNow();
  // The reading lies before `now`, and not by more than a thread may have been kept off.
  EXPECT_LE(converter.ToNs(raw), now + 100'000);
  EXPECT_GE(converter.ToNs(raw) + 10'000 * kMs, now);
}

}  // namespace
}  // namespace heapgauge::trace
