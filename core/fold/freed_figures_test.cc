#include "core/fold/measures.h"

#include <gtest/gtest.h>

#include "core/fold/statistics.h"

namespace heapgauge {
namespace {

// Two stacks; of the first, three blocks were sampled and one is live.
Profile Sampled() {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  profile.default_type = kInuseSpace;
  profile.rows.resize(2);
  profile.estimates.resize(2 * kHeapTypes);
  const SampleWeight w = WeightOf(1000, 4000);
  for (int i = 0; i < 3; ++i) {
    profile.estimates[kAllocObjects].Add(ObjectsEstimate(w));
    profile.estimates[kAllocSpace].Add(BytesEstimate(1000, w));
  }
  profile.estimates[kInuseObjects].Add(ObjectsEstimate(w));
  profile.estimates[kInuseSpace].Add(BytesEstimate(1000, w));
  // The second has blocks from the parent: live, and not allocated here.
  profile.estimates[kHeapTypes + kInuseObjects].Add(ObjectsEstimate(w));
  profile.estimates[kHeapTypes + kInuseSpace].Add(BytesEstimate(1000, w));
  profile.values.resize(profile.estimates.size());
  profile.RoundEstimates();
  return profile;
}

TEST(FreedFigures, AreWhatIsNotLiveOfAllThatWasAllocated) {
  Profile profile = Sampled();
  ASSERT_TRUE(KnowsFreed(profile));
  ASSERT_TRUE(AddFreed(false, &profile));
  ASSERT_TRUE(profile.Check()) << profile.Check().error().message;
  const Measures m = MeasuresOf(profile);
  EXPECT_EQ(m.name, "freed");
  EXPECT_EQ(m.type, "freed_space");
  EXPECT_TRUE(m.has_objects());
  // As sure as the two samples of freed blocks make it.
  Estimate right;
  const SampleWeight w = WeightOf(1000, 4000);
  for (int i = 0; i < 2; ++i) right.Add(BytesEstimate(1000, w));
  const Estimate freed = profile.estimate(0, m.main);
  EXPECT_NEAR(freed.value, right.value, 1e-6);
  EXPECT_NEAR(freed.variance, right.variance, 1e-3);
  EXPECT_NEAR(freed.floor, right.floor, 1e-6);
  EXPECT_NEAR(Interval95(freed).high, Interval95(right).high, 1);
  EXPECT_EQ(profile.value(0, m.main),
            profile.value(0, kAllocSpace) - profile.value(0, kInuseSpace));
  // Not below nothing.
  EXPECT_EQ(profile.value(1, m.main), 0);
  EXPECT_EQ(profile.estimate(1, m.main).value, 0);
  // What was there is as it was.
  EXPECT_EQ(profile.value(1, kInuseSpace), Sampled().value(1, kInuseSpace));
}

TEST(FreedFigures, CountObjectsWhereThatIsAskedFor) {
  Profile profile = Sampled();
  profile.estimates.clear();  // of another tool, which does not say how sure it is
  ASSERT_TRUE(AddFreed(true, &profile));
  ASSERT_TRUE(profile.Check());
  const Measures m = MeasuresOf(profile);
  EXPECT_EQ(m.type, "freed_objects");
  EXPECT_EQ(profile.value(0, m.main),
            profile.value(0, kAllocObjects) - profile.value(0, kInuseObjects));
}

TEST(FreedFigures, NeedBothSides) {
  Profile profile;
  profile.sample_types = {{"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  EXPECT_FALSE(KnowsFreed(profile));
  EXPECT_FALSE(AddFreed(false, &profile));
  profile.sample_types = {{"cpu", "nanoseconds"}};
  EXPECT_FALSE(AddFreed(false, &profile));
}

}  // namespace
}  // namespace heapgauge
