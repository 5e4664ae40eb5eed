#include "core/leaks/verdict/loss_records.h"

#include <gtest/gtest.h>

#include "core/fold/measures.h"
#include "core/leaks/testing/make_check.h"
#include "core/leaks/verdict/suppressions.h"

namespace heapgauge::leaks {
namespace {

using testing::CheckMaker;

TEST(LostProfile, HasTheStacksThatLostSomething) {
  CheckMaker m;
  const uint32_t leak = m.Stack({"Leak()", "main"});
  const uint32_t kept = m.Stack({"Keep()", "main"});
  const uint32_t head = m.Block(leak, 100, Kind::kDefinite);
  m.Block(leak, 20, Kind::kIndirect, head);
  m.Block(leak, 3, Kind::kReachable);
  m.Block(kept, 5000, Kind::kPossible);
  const Check& check = m.check();
  const LossRecords losses = MakeLossRecords(check, {});
  const Profile profile = LostProfile(check, losses, false);
  ASSERT_TRUE(profile.Check());
  ASSERT_EQ(profile.rows.size(), 1u);
  const Measures measures = MeasuresOf(profile);
  EXPECT_EQ(measures.name, "lost");
  EXPECT_EQ(measures.unit, "bytes");
  EXPECT_TRUE(measures.is_memory);
  EXPECT_FALSE(measures.has_allocated());
  EXPECT_EQ(profile.value(0, measures.main), 120);
  EXPECT_EQ(profile.value(0, measures.objects), 2);
  EXPECT_EQ(profile.Total(profile.FindType("inuse_space")).value, 123);
  EXPECT_EQ(profile.Total(measures.main).variance, 0);
  const Measures by_blocks = MeasuresOf(LostProfile(check, losses, true));
  EXPECT_EQ(by_blocks.name, "lost");
  EXPECT_EQ(by_blocks.unit, "count");
}

TEST(LostProfile, SaysHowSureSampledFiguresAre) {
  CheckMaker m;
  const uint32_t leak = m.Stack({"Leak()", "main"});
  for (int i = 0; i < 4; ++i) m.Block(leak, 100, Kind::kDefinite, kNoBlock, 50);
  m.check().known.exact = false;
  const Check& check = m.check();
  const Profile profile = LostProfile(check, MakeLossRecords(check, {}), false);
  ASSERT_TRUE(profile.Check());
  const Measures measures = MeasuresOf(profile);
  EXPECT_EQ(profile.value(0, measures.main), 20'000);
  EXPECT_GT(profile.estimate(0, measures.main).variance, 0);
  EXPECT_EQ(profile.rows[0].live_samples, 4u);
}

TEST(LostProfile, LeavesOutWhatIsSuppressed) {
  CheckMaker m;
  m.Block(m.Stack({"Known()", "main"}), 100, Kind::kDefinite);
  m.Block(m.Stack({"Unknown()", "main"}), 7, Kind::kDefinite);
  Suppressions suppressions;
  ASSERT_TRUE(suppressions.AddText("leak:Known()\n", "test"));
  const Check& check = m.check();
  const Profile profile =
      LostProfile(check, MakeLossRecords(check, {Resolution::kHigh, &suppressions}), false);
  ASSERT_EQ(profile.rows.size(), 1u);
  EXPECT_EQ(profile.value(0, profile.FindType("lost_space")), 7);
}

}  // namespace
}  // namespace heapgauge::leaks
