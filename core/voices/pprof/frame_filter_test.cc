#include "core/voices/pprof/frame_filter.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;
using testing::Re;
using testing::StacksOf;
using Stacks = std::vector<std::string>;

// main a b, main a, main c b; b was inlined into wrap; libz holds c.
struct FrameFilterTest : ::testing::Test {
  FrameFilterTest() {
    const ModuleId libz = m.Module("/usr/lib/libz.so");
    const LocationId b = m.Function("b", 1, "dir/b.cc");
    m.InlinedInto(b, "wrap", 2, "wrap.h");
    const LocationId a = m.Function("a", 1, "a.cc");
    const LocationId main = m.Function("main", 1, "main.cc");
    const LocationId c = m.Function("c", 1, "c.cc", libz);
    m.Row({b, a, main}, 1);
    m.Row({a, main}, 2);
    m.Row({b, c, main}, 3);
    m.Row({}, 4);
  }

  Stacks After(const FrameFilter& filter) {
    matches = FilterByFrames(filter, &p);
    EXPECT_TRUE(p.Check()) << p.Check().error().message;
    return StacksOf(p);
  }

  Maker m;
  Profile& p = m.profile();
  FrameFilterMatches matches;
};

TEST_F(FrameFilterTest, WithoutFiltersOnlyEmptyStacksGo) {
  EXPECT_EQ(After({}), (Stacks{"main a wrap+b", "main a", "main c wrap+b"}));
}

TEST_F(FrameFilterTest, FocusKeepsRowsWithAMatchAndTheirValues) {
  const Regex focus = Re("^c$");
  EXPECT_EQ(After({.focus = &focus}), (Stacks{"main c wrap+b"}));
  EXPECT_TRUE(matches.focus);
  EXPECT_EQ(p.value(0, kInuseSpace), 3);
}

TEST_F(FrameFilterTest, FocusMatchesSourceFileAndObjectFile) {
  const Regex file = Re("wrap\\.h");
  EXPECT_EQ(After({.focus = &file}), (Stacks{"main a wrap+b", "main c wrap+b"}));
  const Regex object = Re("libz");
  EXPECT_EQ(After({.focus = &object}), (Stacks{"main c wrap+b"}));
}

TEST_F(FrameFilterTest, FocusWithoutAMatchLeavesNothing) {
  const Regex focus = Re("nowhere");
  EXPECT_EQ(After({.focus = &focus}), Stacks{});
  EXPECT_FALSE(matches.focus);
  EXPECT_TRUE(p.values.empty());
}

TEST_F(FrameFilterTest, IgnoreWinsOverFocus) {
  const Regex focus = Re("b");
  const Regex ignore = Re("^a$");
  EXPECT_EQ(After({.focus = &focus, .ignore = &ignore}), (Stacks{"main c wrap+b"}));
  EXPECT_TRUE(matches.ignore);
}

TEST_F(FrameFilterTest, HideTakesInlinedFramesOutOfTheirLocation) {
  const Regex hide = Re("^b$");
  EXPECT_EQ(After({.hide = &hide}), (Stacks{"main a wrap", "main a", "main c wrap"}));
  EXPECT_TRUE(matches.hide);
}

TEST_F(FrameFilterTest, TheOutermostFrameLeftIsNotInlined) {
  const Regex hide = Re("wrap");
  EXPECT_EQ(After({.hide = &hide}), (Stacks{"main a b", "main a", "main c b"}));
  std::vector<LocationId> stack;
  p.StackOf(0, &stack);
  EXPECT_FALSE(FramesOf(p, p.locations[stack[0]]).back().inlined);
}

TEST_F(FrameFilterTest, HideOfWholeLocationsJoinsStacksAndDropsEmptyOnes) {
  const Regex hide = Re("^(a|main)$");
  EXPECT_EQ(After({.hide = &hide}), (Stacks{"wrap+b", "c wrap+b"}));
}

TEST_F(FrameFilterTest, HideByObjectFileHidesAllFramesOfTheLocation) {
  const Regex hide = Re("libz");
  EXPECT_EQ(After({.hide = &hide}), (Stacks{"main a wrap+b", "main a", "main wrap+b"}));
}

TEST_F(FrameFilterTest, ShowKeepsOnlyMatchingFrames) {
  const Regex show = Re("^(b|c)$");
  EXPECT_EQ(After({.show = &show}), (Stacks{"b", "c b"}));
  EXPECT_TRUE(matches.show);
}

TEST_F(FrameFilterTest, ShowNeverShowsALocationWithoutNames) {
  p.locations[3].frame_count = 0;  // c, of libz
  const Regex show = Re("libz|main");
  EXPECT_EQ(After({.show = &show}), (Stacks{"main", "main", "main"}));
}

TEST_F(FrameFilterTest, ShowFromCutsTheOuterEndAtTheOutermostMatch) {
  EXPECT_TRUE(ShowFrom(Re("^(a|b|c)$"), &p));
  EXPECT_EQ(StacksOf(p), (Stacks{"a b", "a", "c b"}));
  ASSERT_TRUE(p.Check());
}

TEST_F(FrameFilterTest, ShowFromWithoutAMatchDropsTheRow) {
  EXPECT_TRUE(ShowFrom(Re("libz"), &p));
  EXPECT_EQ(StacksOf(p), (Stacks{"c wrap+b"}));
  EXPECT_FALSE(ShowFrom(Re("nowhere"), &p));
  EXPECT_TRUE(p.rows.empty());
}

TEST_F(FrameFilterTest, BlocksAndUnknownFieldsFollowTheirRows) {
  p.blocks.resize(3);
  for (RowId row = 0; row < 3; ++row) p.blocks[row].row = row;
  p.unknown_fields = {{UnknownFields::Owner::kModule, 0, "m"},
                      {UnknownFields::Owner::kSample, 0, "s0"},
                      {UnknownFields::Owner::kSample, 2, "s2"}};
  const Regex focus = Re("^c$");
  After({.focus = &focus});
  ASSERT_EQ(p.blocks.size(), 1u);
  EXPECT_EQ(p.blocks[0].row, 0u);
  ASSERT_EQ(p.unknown_fields.size(), 2u);
  EXPECT_EQ(p.unknown_fields[1].bytes, "s2");
  EXPECT_EQ(p.unknown_fields[1].id, 0u);
}

}  // namespace
}  // namespace heapgauge::pprof
