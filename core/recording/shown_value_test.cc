#include "core/recording/read_profile.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;
using trace::TraceValue;

// With the figures that heaptrack's files have.
Profile Heaptracks() {
  Maker m;
  m.Row({m.Function("f"), m.Function("main")}, 1);
  Profile profile = m.profile();
  profile.sample_types = {{"alloc_objects", "count"},    {"alloc_space", "bytes"},
                          {"inuse_objects", "count"},    {"inuse_space", "bytes"},
                          {"peak_objects", "count"},     {"peak_space", "bytes"},
                          {"temporary_objects", "count"}};
  profile.values = {7, 700, 1, 100, 3, 300, 2};
  profile.estimates.clear();
  profile.default_type = 3;
  return profile;
}

std::string Shown(TraceValue value, bool blocks) {
  Profile profile = Heaptracks();
  const Status shown = ShowValue(value, blocks, &profile);
  return shown ? profile.sample_types[profile.DefaultType()].name : shown.error().message;
}

TEST(ShownValue, IsTheTypeOfTheProfileThatMeansIt) {
  EXPECT_EQ(Shown(TraceValue::kLive, false), "inuse_space");
  EXPECT_EQ(Shown(TraceValue::kLive, true), "inuse_objects");
  EXPECT_EQ(Shown(TraceValue::kAllocated, false), "alloc_space");
  EXPECT_EQ(Shown(TraceValue::kAllocated, true), "alloc_objects");
  EXPECT_EQ(Shown(TraceValue::kPeak, false), "peak_space");
  EXPECT_EQ(Shown(TraceValue::kPeak, true), "peak_objects");
  EXPECT_EQ(Shown(TraceValue::kFreed, false), "freed_space");
}

TEST(ShownValue, OfWhatIsOnlyCountedIsTheCount) {
  EXPECT_EQ(Shown(TraceValue::kTemporary, false), "temporary_objects");
}

TEST(ShownValue, SaysThatTheProfileDoesNotHaveIt) {
  for (const TraceValue value :
       {TraceValue::kGrowth, TraceValue::kLifetime, TraceValue::kLeft, TraceValue::kNeverFreed}) {
    EXPECT_FALSE(MayHaveValue(value));
    EXPECT_NE(Shown(value, false).find("does not tell what was"), std::string::npos);
  }
  Profile live_only = Heaptracks();
  live_only.sample_types = {{"inuse_space", "bytes"}};
  live_only.values = {100};
  live_only.default_type = 0;
  EXPECT_TRUE(ShowValue(TraceValue::kLive, false, &live_only));
  for (const TraceValue value :
       {TraceValue::kAllocated, TraceValue::kFreed, TraceValue::kPeak, TraceValue::kTemporary}) {
    EXPECT_TRUE(MayHaveValue(value));
    EXPECT_FALSE(ShowValue(value, false, &live_only)) << trace::ValueName(value);
  }
  EXPECT_FALSE(ShowValue(TraceValue::kLive, true, &live_only));
}

}  // namespace
}  // namespace heapgauge
