#include "core/fold/fold_stacks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

// "main f g", the outermost first, of a row.
std::string StackText(const Profile& profile, RowId row) {
  std::string text;
  for (NodeId node = profile.rows[row].leaf; node != kNone; node = profile.nodes[node].parent) {
    const Location& location = profile.locations[profile.nodes[node].location];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const Frame& frame = profile.frames[location.first_frame + k];
      text = profile.functions[frame.function].name + (text.empty() ? "" : " ") + text;
    }
  }
  return text;
}

std::vector<std::string> Folded(const Profile& profile, const std::string& collapse = "") {
  const Entities entities(profile, Granularity::kFunctions);
  std::vector<bool> collapsed;
  if (!collapse.empty()) collapsed = *MatchEntities(profile, entities, collapse);
  const FoldedStacks folded = FoldStacks(profile, entities, collapsed);
  EXPECT_TRUE(folded.profile.Check());
  std::vector<std::string> stacks;
  for (const RowId row : folded.row_of) stacks.push_back(StackText(folded.profile, row));
  return stacks;
}

using Stacks = std::vector<std::string>;

TEST(FoldStacks, JoinsCallSitesAndUnfoldsInlinedCalls) {
  Maker m;
  const auto f = m.Function("f", 10);
  const auto f2 = m.Function("f", 20);
  const auto inlined = m.Function("g");
  m.InlinedInto(inlined, "f");
  const auto main_ = m.Function("main");
  m.Row({f, main_}, 1);
  m.Row({f2, main_}, 2);
  m.Row({inlined, main_}, 3);
  EXPECT_EQ(Folded(m.profile()), (Stacks{"main f", "main f", "main f g"}));
  const Entities entities(m.profile(), Granularity::kFunctions);
  const FoldedStacks folded = FoldStacks(m.profile(), entities, {});
  EXPECT_EQ(folded.row_of, (std::vector<RowId>{0, 0, 1}));
  EXPECT_EQ(folded.profile.nodes.size(), 3u);
  // Which line would be a guess.
  EXPECT_EQ(folded.profile.frames[entities.Of(f, 0)].line, 0u);
  EXPECT_EQ(folded.profile.frames[entities.Of(main_, 0)].line, 1u);
}

TEST(FoldStacks, LeavesOutWhatOnlyAllocates) {
  Maker m;
  const auto f = m.Function("f");
  const auto malloc_ = m.Function("malloc");
  const auto both = m.Function("operator new(unsigned long)");
  m.InlinedInto(both, "g");
  m.Row({malloc_, f}, 1);
  m.Row({malloc_, both, f}, 2);
  m.Row({}, 3);
  EXPECT_EQ(Folded(m.profile()), (Stacks{"f", "f g", ""}));
}

TEST(FoldStacks, LeavesOutWhatIsBetweenTwoCallsOfAFunction) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto h = m.Function("h");
  const auto main_ = m.Function("main");
  m.Row({h, f, g, f, main_}, 1);
  m.Row({g, f, g, f, main_}, 2);
  m.Row({f, g, main_}, 4);
  m.Row({f, f, f, main_}, 8);
  EXPECT_EQ(Folded(m.profile(), "^f$"), (Stacks{"main f h", "main f g", "main g f", "main f"}));
  EXPECT_EQ(Folded(m.profile(), "."), (Stacks{"main f h", "main f g", "main g f", "main f"}));
  EXPECT_EQ(Folded(m.profile(), "^g$"),
            (Stacks{"main f g f h", "main f g", "main g f", "main f f f"}));
}

TEST(FoldStacks, FindsTheSameStacksInTwoProfiles) {
  Maker one;
  Maker two;
  one.Row({one.Function("f"), one.Function("main")}, 1);
  two.Function("other");
  two.Row({two.Function("g"), two.Function("main")}, 2);
  two.Row({two.Function("f"), two.Function("main")}, 3);
  two.Row({}, 4);
  const auto both = SideBySide(one.profile(), two.profile());
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->Check());
  const Entities entities(*both, Granularity::kFunctions);
  const FoldedStacks folded = FoldStacks(*both, entities, {});
  EXPECT_EQ(folded.row_of, (std::vector<RowId>{0, 1, 0, 2}));
  EXPECT_EQ(StackText(folded.profile, 1), "main g");
}

TEST(FoldStacks, FindsTheSameStacksOfBuildsInTwoDirectories) {
  Maker one;
  Maker two;
  one.Row({one.Function("f", 1, "/one/f.c"), one.Function("main", 1, "/one/main.c")}, 1);
  two.Row({two.Function("g", 1, "/two/f.c"), two.Function("main", 1, "/two/main.c")}, 2);
  two.Row({two.Function("f", 1, "/two/f.c"), two.Function("main", 1, "/two/main.c")}, 3);
  const auto both = SideBySide(one.profile(), two.profile());
  ASSERT_TRUE(both);
  const Entities first(one.profile(), Granularity::kFunctions);
  const Entities second(two.profile(), Granularity::kFunctions);
  const Entities entities =
      EntitiesSideBySide(*both, {&one.profile(), &first}, {&two.profile(), &second});
  EXPECT_EQ(entities.size(), 3u);
  const FoldedStacks folded = FoldStacks(*both, entities, {});
  EXPECT_TRUE(folded.profile.Check());
  EXPECT_EQ(folded.row_of, (std::vector<RowId>{0, 1, 0}));
}

TEST(MatchEntities, SaysWhatIsNoExpression) {
  Maker m;
  m.Row({m.Function("f"), m.Function("main")}, 1);
  const Entities entities(m.profile(), Granularity::kFunctions);
  EXPECT_EQ(*MatchEntities(m.profile(), entities, "^ma"), (std::vector<bool>{false, true}));
  EXPECT_FALSE(MatchEntities(m.profile(), entities, "("));
  const Entities files(m.profile(), Granularity::kFiles);
  EXPECT_EQ(*MatchEntities(m.profile(), files, "x\\.cc"), std::vector<bool>{true});
}

}  // namespace
}  // namespace heapgauge
