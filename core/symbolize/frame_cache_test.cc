#include "core/symbolize/frame_cache.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

Profile Unnamed(uint64_t bias, const std::string& build_id) {
  Profile profile;
  Module module;
  module.path = "/bin/server";
  module.build_id = build_id;
  module.load_bias = bias;
  profile.modules.push_back(module);
  for (const uint64_t offset : {0x1000, 0x1010, 0x5000}) {
    Location location;
    location.module = 0;
    location.address = bias + offset;
    profile.locations.push_back(location);
  }
  return profile;
}

TEST(FrameCache, NamesWhatItHasSeenWhereverItIsLoaded) {
  Maker m;
  m.Module("/bin/server");
  m.profile().modules[0].build_id = "abc";
  m.profile().modules[0].has_functions = true;
  const auto inner = m.Function("inner", 7, "a.h", 0);
  m.InlinedInto(inner, "outer", 8, "a.cc");
  m.Function("other", 9, "a.cc", 0);
  FrameCache cache;
  EXPECT_EQ(cache.Learn(m.profile(), {"a note"}), std::vector<std::string>{"a note"});
  EXPECT_EQ(cache.size(), 2u);

  Profile profile = Unnamed(0x7000'0000, "abc");
  cache.Fill(&profile);
  ASSERT_TRUE(profile.Check());
  ASSERT_EQ(profile.locations[0].frame_count, 2u);
  const Frame* frames = &profile.frames[profile.locations[0].first_frame];
  EXPECT_EQ(profile.functions[frames[0].function].name, "inner");
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_EQ(frames[1].line, 8u);
  EXPECT_EQ(profile.locations[1].frame_count, 1u);
  EXPECT_EQ(profile.locations[2].frame_count, 0u) << "never seen";
  EXPECT_TRUE(profile.modules[0].has_functions);

  EXPECT_EQ(cache.Learn(profile, {"a note"}).size(), 1u) << "told once";
  EXPECT_EQ(cache.size(), 2u);
}

TEST(FrameCache, AnotherBuildIsAnotherModule) {
  Maker m;
  m.Module("/bin/server");
  m.profile().modules[0].build_id = "abc";
  m.Function("f", 7, "a.h", 0);
  FrameCache cache;
  cache.Learn(m.profile(), {});
  Profile profile = Unnamed(0, "def");
  cache.Fill(&profile);
  EXPECT_EQ(profile.locations[0].frame_count, 0u);
}

}  // namespace
}  // namespace heapgauge
