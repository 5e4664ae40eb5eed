#include "core/voices/pprof/tag_filter.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;
using testing::NumberLabel;
using testing::SetLabels;
using testing::StacksOf;
using testing::TextLabel;
using Stacks = std::vector<std::string>;

struct TagRootTest : ::testing::Test {
  TagRootTest() {
    const LocationId f = m.Function("f"), main = m.Function("main");
    m.Row({f, main}, 1);
    m.Row({f, main}, 2);
    m.Row({f, main}, 4);
    SetLabels(0,
              {TextLabel("job", "x", &p), TextLabel("thread", "io", &p),
               NumberLabel("size", 2048, "bytes", &p)},
              &p);
    SetLabels(
        1,
        {TextLabel("job", "x", &p), TextLabel("job", "y", &p), NumberLabel("count", 2048, "", &p)},
        &p);
  }
  Maker m;
  Profile& p = m.profile();
};

TEST_F(TagRootTest, TheFirstRootKeyIsOutermostAndTheLastLeafKeyInnermost) {
  const auto matches = AddTagFrames({{"job", "thread"}, {"size", "count"}, "minimum"}, &p);
  ASSERT_TRUE(matches);
  EXPECT_TRUE(matches->root);
  EXPECT_TRUE(matches->leaf);
  EXPECT_EQ(StacksOf(p), (Stacks{"x io main f 2kB ", "x,y  main f  2048", "main f  "}));
  EXPECT_TRUE(p.Check());
  EXPECT_EQ(p.functions[2].name, "io");  // the first that was made
  EXPECT_EQ(p.functions[2].file, "thread");
}

TEST_F(TagRootTest, AKeyThatNobodyHasIsNoMatch) {
  const auto matches = AddTagFrames({{"nothing"}, {}, "minimum"}, &p);
  ASSERT_TRUE(matches);
  EXPECT_FALSE(matches->root);
  EXPECT_EQ(p.rows.size(), 3u);
}

TEST_F(TagRootTest, EqualValuesShareOneLocation) {
  const size_t before = p.locations.size();
  ASSERT_TRUE(AddTagFrames({{"size"}, {}, "minimum"}, &p));
  EXPECT_EQ(p.locations.size(), before + 2);  // "2kB" and ""
}

TEST_F(TagRootTest, AStackThatWouldBecomeTooDeepIsRefused) {
  std::vector<LocationId> deep(Profile::kMaxDepth, 0);
  m.Row(deep, 1);
  const auto matches = AddTagFrames({{"job"}, {}, "minimum"}, &p);
  ASSERT_FALSE(matches);
}

}  // namespace
}  // namespace heapgauge::pprof
