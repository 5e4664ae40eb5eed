#include "core/leaks/verdict/growth_evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "core/leaks/testing/made_up_past.h"

namespace heapgauge::leaks {
namespace {

using testing::MadeUpPast;
using Make = std::function<void(MadeUpPast*)>;

GrowthEvidence Judge(const Check& check, uint32_t stack = 0, const GrowthLimits& limits = {}) {
  std::vector<const KnownBlock*> blocks;
  for (const KnownBlock& block : check.known.blocks) {
    if (block.stack == stack) blocks.push_back(&block);
  }
  const RunClock clock(check.known.profile, check.known.now_ns);
  return JudgeGrowth(blocks, &check.known.histories[stack], false, clock, limits);
}

constexpr int kPasts = 400;

// How often each trend was found for the first stack, in many pasts of the same kind.
std::map<Trend, int> Trends(const Make& make) {
  std::map<Trend, int> found;
  for (int seed = 1; seed <= kPasts; ++seed) {
    MadeUpPast past(static_cast<uint64_t>(seed));
    make(&past);
    ++found[Judge(past.check()).trend];
  }
  return found;
}

constexpr int kAlmostAll = kPasts * 99 / 100;
constexpr int kAlmostNone = kPasts / 100;

TEST(GrowthEvidence, WhatIsNeverFreedGrows) {
  auto found = Trends([](MadeUpPast* past) { past->Live({.samples = 50}, "leak"); });
  EXPECT_GE(found[Trend::kGrowing], kAlmostAll);
}

TEST(GrowthEvidence, ALeakThatBeganLateGrows) {
  auto found = Trends([](MadeUpPast* past) {
    past->Live({.samples = 40, .birth = [past] { return 0.7 + 0.3 * past->Even(); }}, "leak");
  });
  EXPECT_GE(found[Trend::kGrowing], kAlmostAll);
}

TEST(GrowthEvidence, WhatIsSeldomForgottenGrows) {
  auto found = Trends([](MadeUpPast* past) {
    past->Live({.samples = 1200, .lifetime = past->Seldom(0.05)}, "leak");
  });
  EXPECT_GE(found[Trend::kGrowing], kPasts * 9 / 10);
  found = Trends([](MadeUpPast* past) {
    past->Live({.samples = 2400, .lifetime = past->Seldom(0.05)}, "leak");
  });
  EXPECT_GE(found[Trend::kGrowing], kAlmostAll);
}

// A cache that has seen most of its keys: each time fewer are new, and nothing was freed yet.
TEST(GrowthEvidence, WhatFillsUpSlowsDownAndHasNotStopped) {
  auto found = Trends([](MadeUpPast* past) {
    past->Live(
        {.samples = 1500,
         .birth = [past] { return std::min(0.999, -0.3 * std::log(1 - 0.96 * past->Even())); }},
        "thumbnails");
  });
  EXPECT_EQ(found[Trend::kStopped], 0);
  EXPECT_GE(found[Trend::kSlowing], kAlmostAll);
  // Few samples decide less, and are not called stopped either.
  found = Trends([](MadeUpPast* past) {
    past->Live(
        {.samples = 60,
         .birth = [past] { return std::min(0.999, -0.3 * std::log(1 - 0.96 * past->Even())); }},
        "thumbnails");
  });
  EXPECT_LE(found[Trend::kStopped], kPasts / 10);
}

TEST(GrowthEvidence, ACacheThatThrowsOutTheOldestIsBounded) {
  for (const double lifetime : {0.02, 0.1, 0.3, 0.5}) {
    auto found = Trends([&](MadeUpPast* past) {
      past->Live({.samples = 60 / lifetime, .lifetime = MadeUpPast::Always(lifetime)}, "lru");
    });
    EXPECT_LE(found[Trend::kGrowing], 0) << lifetime;
    EXPECT_GE(found[Trend::kBounded], kAlmostAll) << lifetime;
  }
  // Filled for the first time when three quarters of the run were over.
  auto found = Trends([&](MadeUpPast* past) {
    past->Live({.samples = 80, .lifetime = MadeUpPast::Always(0.75)}, "lru");
  });
  EXPECT_LE(found[Trend::kGrowing], kPasts * 5 / 100);
}

TEST(GrowthEvidence, ACacheThatThrowsOutAtRandomIsNotSuspected) {
  for (const double mean : {0.03, 0.1, 0.2, 1.0 / 3}) {
    auto found = Trends([&](MadeUpPast* past) {
      past->Live({.samples = 80 / mean, .lifetime = past->Exponential(mean)}, "cache");
    });
    // The last one is the worst case, which may be found at the level of the test.
    EXPECT_LE(found[Trend::kGrowing], kAlmostNone) << mean;
    if (mean < 0.3) {
      EXPECT_GE(found[Trend::kBounded], kAlmostAll) << mean;
    }
  }
}

TEST(GrowthEvidence, WhatIsClearedNowAndThenIsNotSuspected) {
  for (const double first : {0.01, 0.08, 0.15, 0.19}) {
    auto found = Trends([&](MadeUpPast* past) {
      past->Live({.samples = 400, .lifetime = MadeUpPast::ClearedEvery(0.2, first)}, "sawtooth");
    });
    EXPECT_EQ(found[Trend::kGrowing], 0) << first;
  }
}

TEST(GrowthEvidence, WhatIsMadeAtTheStartIsNotSuspected) {
  const auto early = [](MadeUpPast* past) { return [past] { return 0.02 * past->Even(); }; };
  auto found =
      Trends([&](MadeUpPast* past) { past->Live({.samples = 50, .birth = early(past)}, "start"); });
  EXPECT_GE(found[Trend::kStopped], kAlmostAll);
  EXPECT_EQ(found[Trend::kGrowing], 0);
  // With things of the moment at the same place.
  found = Trends([&](MadeUpPast* past) {
    const uint32_t stack = past->Live({.samples = 50, .birth = early(past)}, "start");
    past->AddTo(stack, {.samples = 1500, .lifetime = past->Exponential(0.01)});
  });
  EXPECT_LE(found[Trend::kGrowing], 0);
}

TEST(GrowthEvidence, ACacheIsBoundedWhateverTheLoad) {
  // Three quarters of the work are done in the first quarter of the time. The cache holds a tenth
  // of all that was ever put into it.
  const auto work_to_time = [](double work) {
    return work < 0.75 ? work / 3 : 0.25 + (work - 0.75) * 3;
  };
  const auto time_to_work = [](double time) {
    return time < 0.25 ? time * 3 : 0.75 + (time - 0.25) / 3;
  };
  for (const double kept : {0.1, 0.3}) {
    auto found = Trends([&](MadeUpPast* past) {
      past->Live({.samples = 60 / kept,
                  .birth = [=] { return work_to_time(past->Even()); },
                  .lifetime =
                      [=](double birth) {
                        const double end = time_to_work(birth) + kept;
                        return end >= 1 ? 2 : work_to_time(end) - birth;
                      }},
                 "lru");
      past->Live({.samples = 3000,
                  .birth = [=] { return work_to_time(past->Even()); },
                  .lifetime = MadeUpPast::Always(0.001)},
                 "requests");
    });
    EXPECT_LE(found[Trend::kGrowing], kAlmostNone) << kept;
  }
}

// As a vector does that doubles: nothing else is born while so much is allocated.
Check WithLargeBlocks(Check check) {
  std::vector<TimelinePoint>& timeline = check.known.profile.timeline;
  const uint64_t all = timeline.back().allocated_bytes;
  for (const auto& [at, share] :
       {std::pair(0.16, 0.2), std::pair(0.3, 0.4), std::pair(0.62, 0.8)}) {
    for (TimelinePoint& point : timeline) {
      if (static_cast<double>(point.time_ns) < at * MadeUpPast::kLength) continue;
      point.allocated_bytes += static_cast<uint64_t>(share * static_cast<double>(all));
    }
  }
  return check;
}

TEST(GrowthEvidence, AFewVeryLargeBlocksChangeNothing) {
  std::map<Trend, int> found;
  std::map<Trend, int> of_cache;
  for (int seed = 1; seed <= kPasts; ++seed) {
    MadeUpPast past(static_cast<uint64_t>(seed));
    past.Live({.samples = 6000, .lifetime = past.Seldom(0.05)}, "session");
    const uint32_t cache = past.Live({.samples = 800, .lifetime = past.Exponential(0.2)}, "cache");
    const Check check = WithLargeBlocks(past.check());
    ++found[Judge(check).trend];
    ++of_cache[Judge(check, cache).trend];
  }
  EXPECT_GE(found[Trend::kGrowing], kAlmostAll);
  EXPECT_EQ(of_cache[Trend::kGrowing], 0);
}

TEST(GrowthEvidence, FewSamplesTellNothing) {
  MadeUpPast past(1);
  const uint32_t stack = past.Live({.samples = 0}, "leak");
  while (past.raw().known.blocks.size() < 7) past.AddTo(stack, {.samples = 1});
  past.raw().known.blocks.resize(7);
  EXPECT_EQ(Judge(past.check()).trend, Trend::kTooFew);
}

TEST(GrowthEvidence, AShortRunTellsNothing) {
  MadeUpPast past(1);
  past.Live({.samples = 100}, "leak");
  GrowthLimits limits;
  limits.shortest_run_ns = MadeUpPast::kLength + 1;
  EXPECT_EQ(Judge(past.check(), 0, limits).trend, Trend::kTooShort);
}

TEST(GrowthEvidence, TheRateIsWithinItsInterval) {
  int within = 0;
  for (int seed = 1; seed <= kPasts; ++seed) {
    MadeUpPast past(static_cast<uint64_t>(seed));
    past.Live({.samples = 100}, "leak");
    const GrowthEvidence evidence = Judge(past.check());
    const double truth = 100.0 * MadeUpPast::kInterval / (MadeUpPast::kLength * 1e-9);
    EXPECT_NEAR(evidence.bytes_per_second, truth, truth * 0.7);
    within +=
        evidence.bytes_per_second_95.low <= truth && evidence.bytes_per_second_95.high >= truth ? 1
                                                                                                : 0;
  }
  EXPECT_GE(within, kPasts * 93 / 100);
}

TEST(GrowthEvidence, AFinerIntervalInBetweenIsNoGrowth) {
  // A cache at its size; while the last fifth lasted, samples were taken sixteen times as often.
  auto found = Trends([](MadeUpPast* past) {
    const uint32_t stack = past->Live({.samples = 300,
                                       .birth = [past] { return 0.8 * past->Even(); },
                                       .lifetime = past->Exponential(0.25)},
                                      "cache");
    past->AddTo(stack, {.samples = 1200,
                        .birth = [past] { return 0.8 + 0.2 * past->Even(); },
                        .lifetime = past->Exponential(0.25),
                        .interval = MadeUpPast::kInterval / 16});
  });
  EXPECT_LE(found[Trend::kGrowing], kAlmostNone);
}

StackHistory Amounts(const std::function<uint64_t(size_t)>& at) {
  StackHistory history;
  history.allocated_bytes = 1e9;
  for (size_t i = 0; i < 32; ++i) history.least_live.push_back(at(i));
  return history;
}

std::vector<KnownBlock> EvenBlocks(double from) {
  std::vector<KnownBlock> blocks(100);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const double share = from + (1 - from) * (static_cast<double>(i) + 0.5) / 100;
    blocks[i].size = 10000;
    blocks[i].birth_ns = static_cast<uint64_t>(share * 60e9);
  }
  return blocks;
}

GrowthEvidence JudgeExactly(const std::vector<KnownBlock>& blocks, const StackHistory& history) {
  std::vector<const KnownBlock*> pointers;
  for (const KnownBlock& block : blocks) pointers.push_back(&block);
  return JudgeGrowth(pointers, &history, true, RunClock(0, 60'000'000'000, {}));
}

TEST(GrowthEvidence, AnExactAmountThatRisesGrowsAtItsRate) {
  const auto evidence =
      JudgeExactly(EvenBlocks(0), Amounts([](size_t i) { return 1000000 + 15000 * i; }));
  EXPECT_EQ(evidence.trend, Trend::kGrowing);
  EXPECT_NEAR(evidence.bytes_per_second, 8000, 1);  // 32 parts in 60 s
  EXPECT_LT(evidence.p, 0.001);
}

// As of a vector: each block is twice as large as the one before, which is freed.
TEST(GrowthEvidence, OneBlockThatDoublesIsNotBounded) {
  KnownBlock block;
  block.size = 1 << 20;
  block.birth_ns = 30'000'000'000;
  StackHistory history = Amounts([](size_t i) {
    uint64_t bytes = 1024;
    while (bytes < 8192 * i) bytes *= 2;
    return bytes;
  });
  history.allocated_bytes = 2 << 20;
  history.freed_bytes = 1 << 20;
  EXPECT_EQ(JudgeExactly({block}, history).trend, Trend::kTooFew);
  // One that is made anew and stays as large as it is.
  StackHistory same = Amounts([](size_t) { return uint64_t{1} << 20; });
  same.allocated_bytes = history.allocated_bytes;
  same.freed_bytes = history.freed_bytes;
  EXPECT_EQ(JudgeExactly({block}, same).trend, Trend::kBounded);
}

TEST(GrowthEvidence, AnExactAmountThatComesBackDoesNotGrow) {
  StackHistory history = Amounts([](size_t i) { return 1000000 + 300000 * (i % 5); });
  history.freed_bytes = 0.9e9;
  EXPECT_EQ(JudgeExactly(EvenBlocks(0.9), history).trend, Trend::kBounded);
  // It rises by chance, but whatever is older than the last quarter is gone.
  history = Amounts([](size_t i) { return 1000000 + 10000 * i; });
  history.freed_bytes = 0.9e9;
  EXPECT_EQ(JudgeExactly(EvenBlocks(0.8), history).trend, Trend::kBounded);
  // Nothing since the start.
  std::vector<KnownBlock> early = EvenBlocks(0);
  for (KnownBlock& block : early) block.birth_ns /= 10;
  EXPECT_EQ(JudgeExactly(early, Amounts([](size_t) { return 1000000; })).trend, Trend::kStopped);
}

// A past of which every block is known: blocks are born evenly over the run.
class ExactPast {
 public:
  explicit ExactPast(uint64_t seed) : random_(seed) {}

  using Lifetime = std::function<double()>;  // as a share of the run
  void Add(double blocks, const Lifetime& lifetime) {
    const int count = std::poisson_distribution<int>(blocks)(random_);
    for (int i = 0; i < count; ++i) {
      const double birth = Even();
      const double death = birth + lifetime();
      history_.allocated_bytes += kSize;
      changes_.emplace_back(birth, kSize);
      if (death < 1) {
        history_.freed_bytes += kSize;
        changes_.emplace_back(death, -kSize);
        continue;
      }
      KnownBlock block;
      block.size = kSize;
      block.birth_ns = static_cast<uint64_t>(birth * 60e9);
      blocks_.push_back(block);
    }
  }
  double Even() { return std::uniform_real_distribution<double>()(random_); }
  Lifetime Exponential(double mean) {
    return [this, mean] { return std::exponential_distribution<double>(1 / mean)(random_); };
  }

  Trend Judge() {
    constexpr double kParts = 32;
    std::sort(changes_.begin(), changes_.end());
    int64_t live = 0;
    auto change = changes_.begin();
    for (double part = 1; part <= kParts; ++part) {
      int64_t least = live;
      for (; change != changes_.end() && change->first * kParts < part; ++change) {
        live += change->second;
        least = std::min(least, live);
      }
      history_.least_live.push_back(static_cast<uint64_t>(least));
    }
    return JudgeExactly(blocks_, history_).trend;
  }

 private:
  static constexpr int64_t kSize = 1000;
  std::mt19937_64 random_;
  std::vector<std::pair<double, int64_t>> changes_;
  std::vector<KnownBlock> blocks_;
  StackHistory history_;
};

constexpr int kExactPasts = 200;

int ExactGrowers(const std::function<void(ExactPast*)>& make) {
  int growing = 0;
  for (int seed = 1; seed <= kExactPasts; ++seed) {
    ExactPast past(static_cast<uint64_t>(seed));
    make(&past);
    growing += past.Judge() == Trend::kGrowing ? 1 : 0;
  }
  return growing;
}

TEST(GrowthEvidence, AnExactAmountThatRisesByChanceDoesNotGrow) {
  for (const double mean : {0.05, 0.1, 0.15, 0.2, 0.25, 0.3}) {
    for (const double live : {100, 500}) {
      const int growing =
          ExactGrowers([&](ExactPast* past) { past->Add(live / mean, past->Exponential(mean)); });
      EXPECT_LE(growing, kExactPasts / 100) << mean << " " << live;
    }
  }
  // The oldest go first.
  for (const double lifetime : {0.1, 0.3, 0.5, 0.6, 0.7, 0.75}) {
    const int growing =
        ExactGrowers([&](ExactPast* past) { past->Add(100 / lifetime, [&] { return lifetime; }); });
    EXPECT_LE(growing, kExactPasts / 100) << lifetime;
  }
}

TEST(GrowthEvidence, AnExactAmountOfWhichSomeStaysGrows) {
  // One in twenty is forgotten.
  EXPECT_GE(ExactGrowers([](ExactPast* past) {
              past->Add(6000, [past] { return past->Even() < 0.05 ? 2 : 0.001; });
            }),
            kExactPasts * 99 / 100);
  // Half of them, and the others stay for a while.
  EXPECT_GE(ExactGrowers([](ExactPast* past) {
              past->Add(300, [] { return 2; });
              past->Add(300, past->Exponential(0.05));
            }),
            kExactPasts * 99 / 100);
  // Beside a cache that is larger than what is lost.
  EXPECT_GE(ExactGrowers([](ExactPast* past) {
              past->Add(500, [] { return 2; });
              past->Add(20000, past->Exponential(0.03));
            }),
            kExactPasts * 9 / 10);
}

TEST(GrowthEvidence, BlocksWithoutAPastAreNotJudged) {
  const std::vector<KnownBlock> blocks = EvenBlocks(0);
  std::vector<const KnownBlock*> pointers{&blocks[0], &blocks[1]};
  const auto evidence = JudgeGrowth(pointers, nullptr, true, RunClock(0, 60'000'000'000, {}));
  EXPECT_EQ(evidence.trend, Trend::kUnknown);
  EXPECT_EQ(evidence.oldest_ns, 60'000'000'000 - blocks[0].birth_ns);
}

TEST(GrowthEvidence, AHeapThatRisesAsAWholeIsToldByItsTimeline) {
  std::vector<TimelinePoint> timeline;
  for (uint64_t i = 1; i <= 600; ++i) {
    TimelinePoint point;
    point.time_ns = i * 1'000'000'000;
    point.live_bytes = 100'000'000 + i * 1'000'000 + (i % 7) * 20'000'000;
    timeline.push_back(point);
  }
  const RunClock clock(0, 600'000'000'000, {});
  GrowthEvidence whole = JudgeTimeline(timeline, clock);
  EXPECT_EQ(whole.trend, Trend::kGrowing);
  EXPECT_NEAR(whole.bytes_per_second, 1e6, 0.1e6);
  for (TimelinePoint& point : timeline) point.live_bytes -= point.time_ns / 1000;
  whole = JudgeTimeline(timeline, clock);
  EXPECT_NE(whole.trend, Trend::kGrowing);
  EXPECT_EQ(JudgeTimeline({}, clock).trend, Trend::kUnknown);
}

TEST(RunClock, WorkIsWhatTheProgramAllocated) {
  std::vector<TimelinePoint> timeline;
  for (uint64_t i = 1; i <= 10; ++i) {
    TimelinePoint point;
    point.time_ns = i * 10;
    point.allocated_bytes = i <= 5 ? i * 180 : 900 + (i - 5) * 20;
    timeline.push_back(point);
  }
  const RunClock clock(0, 100, timeline);
  EXPECT_DOUBLE_EQ(clock.ByWork(50), 0.9);
  EXPECT_DOUBLE_EQ(clock.ByWork(25), 0.45);
  EXPECT_DOUBLE_EQ(clock.ByTime(25), 0.25);
  EXPECT_DOUBLE_EQ(clock.ByWork(0), 0);
  EXPECT_DOUBLE_EQ(clock.ByWork(1000), 1);
  EXPECT_DOUBLE_EQ(RunClock(0, 100, {}).ByWork(25), 0.25);
  // One large block among many small ones.
  std::vector<TimelinePoint> jumping;
  for (uint64_t i = 1; i <= 100; ++i) {
    TimelinePoint point;
    point.time_ns = i * 10;
    point.allocated_bytes = i * 10 + (i > 60 ? 5000 : 0);
    jumping.push_back(point);
  }
  const RunClock even(0, 1000, jumping);
  for (uint64_t t = 0; t <= 1000; t += 10) EXPECT_NEAR(even.ByWork(t), even.ByTime(t), 0.011) << t;
  // Damage does not make time run backwards.
  timeline[3].allocated_bytes = ~uint64_t{0};
  const RunClock damaged(0, 100, timeline);
  for (uint64_t t = 1; t < 100; ++t) EXPECT_GE(damaged.ByWork(t), damaged.ByWork(t - 1));
  EXPECT_EQ(RunClock(50, 10, timeline).length_ns(), 0u);
  EXPECT_EQ(RunClock(50, 10, timeline).ByTime(70), 1);
}

}  // namespace
}  // namespace heapgauge::leaks
