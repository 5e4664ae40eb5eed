#include "agent/record/dump_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace heapgauge::agent {
namespace {

using wire::DumpReason;

constexpr uint64_t kMb = 1 << 20;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

DumpFigures At(uint64_t now_ns, uint64_t allocated = 0, uint64_t live = 0, uint64_t large = 0) {
  return {now_ns, allocated, live, large};
}

// Asks as Dumper does.
DumpReason Ask(DumpPolicy* policy, const DumpFigures& f, const MemoryFigures& memory = {}) {
  if (!policy->MayBeDue(f)) return DumpReason::kNone;
  return policy->Decide(f, policy->WantsMemory(f) ? &memory : nullptr);
}

TEST(DumpPolicy, WantsNothingWithoutSettings) {
  DumpPolicy policy;
  policy.Start({}, At(0));
  EXPECT_FALSE(policy.MayBeDue(At(1000 * kSecond, uint64_t{1} << 50, uint64_t{1} << 50)));
}

TEST(DumpPolicy, DumpsEverySoManyBytesAllocated) {
  DumpSettings settings;
  settings.allocated = 100;
  DumpPolicy policy;
  policy.Start(settings, At(0));
  EXPECT_EQ(Ask(&policy, At(1, 99)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(2, 150)), DumpReason::kAllocated);
  EXPECT_EQ(Ask(&policy, At(3, 249)), DumpReason::kNone) << "counted from the last one";
  EXPECT_EQ(Ask(&policy, At(4, 250)), DumpReason::kAllocated);
}

TEST(DumpPolicy, DumpsWhenLiveMemoryPassesTheHighestAtADump) {
  DumpSettings settings;
  settings.growth = 100;
  DumpPolicy policy;
  policy.Start(settings, At(0));
  EXPECT_EQ(Ask(&policy, At(1, 0, 99)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(2, 0, 130)), DumpReason::kGrowth);
  EXPECT_EQ(Ask(&policy, At(3, 0, 20)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(4, 0, 229)), DumpReason::kNone) << "a rise from a valley is no growth";
  EXPECT_EQ(Ask(&policy, At(5, 0, 230)), DumpReason::kGrowth);
}

TEST(DumpPolicy, ADumpForAnotherReasonCountsForGrowth) {
  DumpSettings settings;
  settings.growth = 100;
  settings.allocated = 1000;
  DumpPolicy policy;
  policy.Start(settings, At(0));
  EXPECT_EQ(Ask(&policy, At(1, 1000, 80)), DumpReason::kAllocated);
  EXPECT_EQ(Ask(&policy, At(2, 1001, 179)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(3, 1002, 180)), DumpReason::kGrowth);
}

TEST(DumpPolicy, DumpsOnTheSecondWithoutDrifting) {
  DumpSettings settings;
  settings.seconds = 10;
  DumpPolicy policy;
  policy.Start(settings, At(5 * kSecond));
  EXPECT_EQ(Ask(&policy, At(14 * kSecond)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(17 * kSecond)), DumpReason::kTime) << "2 s late";
  EXPECT_EQ(Ask(&policy, At(24 * kSecond)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(25 * kSecond)), DumpReason::kTime) << "on the grid again";
  EXPECT_EQ(Ask(&policy, At(99 * kSecond)), DumpReason::kTime) << "one for all that were missed";
  EXPECT_EQ(Ask(&policy, At(99 * kSecond)), DumpReason::kNone);
}

TEST(DumpPolicy, LevelsGetFinerTowardsTheLimit) {
  const uint32_t at_80[] = {800, 900, 950, 980};
  for (uint32_t i = 0; i < DumpPolicy::kLevels; ++i) {
    EXPECT_EQ(DumpPolicy::LevelPermille(80, i), at_80[i]);
  }
  for (uint32_t percent = 1; percent < 100; ++percent) {
    for (uint32_t i = 1; i < DumpPolicy::kLevels; ++i) {
      EXPECT_GE(DumpPolicy::LevelPermille(percent, i), DumpPolicy::LevelPermille(percent, i - 1));
      EXPECT_LT(DumpPolicy::LevelPermille(percent, i), 1000u);
    }
  }
}

class NearLimit : public ::testing::Test {
 protected:
  NearLimit() {
    DumpSettings settings;
    settings.limit_percent = 80;
    policy_.Start(settings, At(now_));
  }
  // A program that touches all it has, which is all in small blocks.
  DumpReason Use(uint64_t used, uint64_t live) {
    now_ += 30 * kMs;
    MemoryFigures memory;
    memory.cgroup = {used, 1000 * kMb};
    return Ask(&policy_, At(now_, 0, live), memory);
  }
  uint64_t now_ = 7 * kSecond;
  DumpPolicy policy_;
};

TEST_F(NearLimit, EachLevelIsDumpedOnce) {
  std::vector<uint64_t> dumped;
  for (uint64_t mb = 0; mb < 1000; mb += 5) {
    if (Use(mb * kMb, mb * kMb) == DumpReason::kLimit) dumped.push_back(mb);
    EXPECT_EQ(Use(mb * kMb, mb * kMb), DumpReason::kNone);
  }
  ASSERT_EQ(dumped.size(), 4u);
  EXPECT_EQ(dumped, (std::vector<uint64_t>{800, 900, 950, 980}));
}

TEST_F(NearLimit, AJumpOverLevelsIsOneDump) {
  EXPECT_EQ(Use(100 * kMb, 100 * kMb), DumpReason::kNone);
  EXPECT_EQ(Use(970 * kMb, 970 * kMb), DumpReason::kLimit);
  EXPECT_EQ(Use(975 * kMb, 975 * kMb), DumpReason::kNone);
  EXPECT_EQ(Use(981 * kMb, 981 * kMb), DumpReason::kLimit);
}

TEST_F(NearLimit, IsArmedAgainAfterTheDanger) {
  EXPECT_EQ(Use(810 * kMb, 810 * kMb), DumpReason::kLimit);
  EXPECT_EQ(Use(760 * kMb, 760 * kMb), DumpReason::kNone) << "not far enough";
  EXPECT_EQ(Use(810 * kMb, 810 * kMb), DumpReason::kNone);
  now_ += 2 * kSecond;
  EXPECT_EQ(Use(700 * kMb, 700 * kMb), DumpReason::kNone);
  EXPECT_EQ(Use(810 * kMb, 810 * kMb), DumpReason::kLimit);
  EXPECT_EQ(Use(700 * kMb, 700 * kMb), DumpReason::kNone);
  EXPECT_EQ(Use(810 * kMb, 810 * kMb), DumpReason::kNone) << "at most once a second";
}

TEST_F(NearLimit, ALargeBlockCountsBeforeItIsTouched) {
  MemoryFigures memory;
  memory.cgroup = {5 * kMb, 1000 * kMb};
  EXPECT_EQ(Ask(&policy_, At(now_), memory), DumpReason::kNone);
  memory.cgroup = {305 * kMb, 1000 * kMb};
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 300 * kMb, 300 * kMb), memory),
            DumpReason::kNone);
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 900 * kMb, 900 * kMb), memory), DumpReason::kNone)
      << "fits";
  // Half of it is touched when another thread asks for more.
  memory.cgroup.used = 600 * kMb;
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 1000 * kMb, 1000 * kMb), memory),
            DumpReason::kLimit);
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 1001 * kMb, 1001 * kMb), memory),
            DumpReason::kNone)
      << "this is known";
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 1030 * kMb, 1030 * kMb), memory),
            DumpReason::kLimit);
}

TEST_F(NearLimit, GrowthOfSmallBlocksDoesNotHideAnUntouchedLargeOne) {
  MemoryFigures memory;
  memory.cgroup = {5 * kMb, 1000 * kMb};
  EXPECT_EQ(Ask(&policy_, At(now_), memory), DumpReason::kNone);
  memory.cgroup.used = 405 * kMb;  // 400 MB of small blocks, and 600 MB that nobody touched
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 1000 * kMb, 600 * kMb), memory),
            DumpReason::kLimit);
}

TEST_F(NearLimit, MemoryThatIsNeverTouchedIsForgiven) {
  MemoryFigures memory;
  memory.cgroup = {300 * kMb, 1000 * kMb};
  EXPECT_EQ(Ask(&policy_, At(now_, 0, 0, 0), memory), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs, 0, 5000 * kMb, 5000 * kMb), memory),
            DumpReason::kLimit);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Ask(&policy_, At(now_ += 300 * kMs, 0, 5000 * kMb, 5000 * kMb), memory),
              DumpReason::kNone);
  }
}

TEST_F(NearLimit, SmallBlocksThatReuseMemoryAreNoDanger) {
  EXPECT_EQ(Use(700 * kMb, 100 * kMb), DumpReason::kNone);
  EXPECT_EQ(Use(700 * kMb, 650 * kMb), DumpReason::kNone);
}

TEST_F(NearLimit, ARequestThatIsRefusedIsDumpedFor) {
  MemoryFigures memory;
  memory.address_space = {600 * kMb, 1000 * kMb};
  const DumpFigures f = At(now_, 0, 600 * kMb);
  EXPECT_EQ(policy_.Decide(f, &memory, 100 * kMb), DumpReason::kNone) << "there is room";
  EXPECT_EQ(policy_.Decide(f, &memory, 500 * kMb), DumpReason::kLimit);
  EXPECT_EQ(policy_.Decide(f, &memory, 500 * kMb), DumpReason::kNone) << "the same again";
  EXPECT_EQ(policy_.room(), 400 * kMb);
}

TEST_F(NearLimit, ABlockThatIsAboutToBeCopiedToALargerOneIsDumpedFor) {
  MemoryFigures memory;
  memory.cgroup = {600 * kMb, 1000 * kMb};
  policy_.Decide(At(now_), &memory);
  EXPECT_EQ(policy_.Decide(At(now_ += kSecond, 0, 600 * kMb), &memory, 300 * kMb),
            DumpReason::kNone);
  EXPECT_EQ(policy_.Decide(At(now_ += kMs, 0, 600 * kMb), &memory, 1200 * kMb), DumpReason::kLimit);
}

TEST_F(NearLimit, ARequestThatCanNeverBeHadIsNoSign) {
  MemoryFigures memory;
  memory.address_space = {100 * kMb, 1000 * kMb};
  memory.cgroup = {100 * kMb, 1000 * kMb};
  EXPECT_EQ(policy_.Decide(At(now_, 0, 100 * kMb), &memory, UINT64_MAX / 2), DumpReason::kNone);
}

TEST_F(NearLimit, LooksMoreOftenWhereThereIsLessRoom) {
  MemoryFigures memory;
  memory.cgroup = {100 * kMb, 1000 * kMb};
  DumpFigures f = At(now_, 0, 100 * kMb);
  policy_.Decide(f, &memory);
  EXPECT_FALSE(policy_.MayBeDue(At(now_ + 199 * kMs, 0, 110 * kMb)));
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 200 * kMs, 0, 110 * kMb)));
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 3 * kMs, 0, 117 * kMb)));
  EXPECT_FALSE(policy_.WantsMemory(At(now_ + kMs, 0, 117 * kMb))) << "only just looked";
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + kMs, 0, 500 * kMb))) << "a leap";
  memory.cgroup.used = 790 * kMb;
  policy_.Decide(f, &memory);
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 20 * kMs, 0, 100 * kMb)));
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 3 * kMs, 0, 104 * kMb)));
  EXPECT_FALSE(policy_.WantsMemory(At(now_ + 3 * kMs, 0, 101 * kMb)));
}

TEST_F(NearLimit, ALimitThatIsSetLaterIsSeen) {
  policy_.Decide(At(now_), nullptr);
  const MemoryFigures none;
  EXPECT_EQ(Ask(&policy_, At(now_ += 30 * kMs), none), DumpReason::kNone);
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 3 * kMs, 0, 16 * kMb)));
  EXPECT_TRUE(policy_.WantsMemory(At(now_ + 200 * kMs)));
}

TEST(DumpPolicy, AChildStartsFromWhatIsLive) {
  DumpSettings settings;
  settings.growth = 100;
  settings.allocated = 1000;
  DumpPolicy policy;
  policy.Start(settings, At(0));
  EXPECT_EQ(Ask(&policy, At(1, 0, 150)), DumpReason::kGrowth);
  policy.StartAnew(At(2, 0, 500));
  EXPECT_EQ(Ask(&policy, At(3, 0, 599)), DumpReason::kNone);
  EXPECT_EQ(Ask(&policy, At(4, 0, 600)), DumpReason::kGrowth);
}

TEST(DumpPolicy, AResetForgetsWhatWasLive) {
  DumpSettings settings;
  settings.growth = 100;
  DumpPolicy policy;
  policy.Start(settings, At(0));
  EXPECT_EQ(Ask(&policy, At(1, 0, 1000)), DumpReason::kGrowth);
  policy.ForgetLive();
  EXPECT_EQ(Ask(&policy, At(2, 0, 100)), DumpReason::kGrowth);
}

TEST(DumpPolicy, SurvivesNonsense) {
  DumpSettings settings;
  settings.growth = UINT64_MAX;
  settings.allocated = UINT64_MAX;
  settings.seconds = uint64_t{1} << 32;
  settings.limit_percent = 99;
  DumpPolicy policy;
  policy.Start(settings, At(UINT64_MAX - 1));
  MemoryFigures memory;
  memory.cgroup = {UINT64_MAX, 1};
  memory.address_space = {1, UINT64_MAX};
  memory.machine = {UINT64_MAX, UINT64_MAX};
  // Sums that would pass 2^64 stay at its end: what is used is beyond every level, nothing is left.
  EXPECT_EQ(policy.Decide(At(0, UINT64_MAX, UINT64_MAX, UINT64_MAX), &memory, UINT64_MAX),
            DumpReason::kLimit);
  EXPECT_EQ(policy.room(), 0u);
  EXPECT_FALSE(policy.MayBeDue(At(1))) << "the clock went back, and the next look is ahead";
  EXPECT_EQ(policy.Decide(At(UINT64_MAX, 0, 0, 0), &memory, 1), DumpReason::kLimit);
  EXPECT_EQ(policy.room(), 0u);
  EXPECT_TRUE(policy.MayBeDue(At(UINT64_MAX)));
}

}  // namespace
}  // namespace heapgauge::agent
