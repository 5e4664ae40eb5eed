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

TEST(NameWithoutArguments, CutsAtTheFirstBracketThatOpensArguments) {
  EXPECT_EQ(NameWithoutArguments("f(int)"), "f");
  EXPECT_EQ(NameWithoutArguments("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(NameWithoutArguments("A::operator()(int)"), "A::operator()");
  EXPECT_EQ(NameWithoutArguments(".f"), "f");
  EXPECT_EQ(NameWithoutArguments("operator()"), "operator()");
  EXPECT_EQ(NameWithoutArguments("(f)"), "");
}

struct PruneTest : ::testing::Test {
  LocationId Id(const std::string& name) { return m.Function(name); }
  Maker m;
  Profile& p = m.profile();
};

TEST_F(PruneTest, DropsTheMatchAndAllItCalled) {
  const LocationId main = Id("main"), mal = Id("malloc(int)"), in = Id("inner");
  m.Row({in, mal, main}, 1);
  p.drop_frames = "malloc|free";
  ASSERT_TRUE(RemoveUninteresting(&p));
  EXPECT_EQ(StacksOf(p), (Stacks{"main"}));
}

TEST_F(PruneTest, MatchesWholeNamesOnly) {
  m.Row({Id("my_malloc"), Id("main")}, 1);
  p.drop_frames = "malloc";
  ASSERT_TRUE(RemoveUninteresting(&p));
  EXPECT_EQ(StacksOf(p), (Stacks{"main my_malloc"}));
}

TEST_F(PruneTest, KeepFramesStay) {
  m.Row({Id("runtime.panic"), Id("main")}, 1);
  p.drop_frames = "runtime\\..*";
  p.keep_frames = "runtime\\.panic";
  ASSERT_TRUE(RemoveUninteresting(&p));
  EXPECT_EQ(StacksOf(p), (Stacks{"main runtime.panic"}));
}

TEST_F(PruneTest, MatchesBeforeTheFirstOtherFrameStay) {
  m.Row({Id("malloc"), Id("main"), Id("malloc")}, 1);
  m.Row({Id("malloc")}, 1);
  p.drop_frames = "malloc";
  ASSERT_TRUE(RemoveUninteresting(&p));
  EXPECT_EQ(StacksOf(p), (Stacks{"malloc main", "malloc"}));
}

TEST_F(PruneTest, CutsInsideALocationWithInlinedCalls) {
  const LocationId in = m.Function("inner");
  m.InlinedInto(in, "malloc");
  m.InlinedInto(in, "caller");
  const LocationId leaf = Id("leaf"), main = Id("main");
  m.Row({leaf, in, main}, 1);
  p.drop_frames = "malloc";
  ASSERT_TRUE(RemoveUninteresting(&p));
  EXPECT_EQ(StacksOf(p), (Stacks{"main caller"}));
}

TEST_F(PruneTest, ABadExpressionIsAnErrorThatNamesIt) {
  p.drop_frames = "(";
  const Status status = RemoveUninteresting(&p);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.find("failed to compile regexp (: error parsing regexp: "), 0u);
}

TEST_F(PruneTest, PruneFromCutsBelowTheInnermostMatchAndKeepsIt) {
  const LocationId a = Id("a"), b = Id("b"), c = Id("c"), d = Id("d");
  m.Row({a, b, c, b, d}, 1);
  m.Row({a, c}, 1);
  PruneFrom(Re("b"), &p);
  EXPECT_EQ(StacksOf(p), (Stacks{"d b c b", "c a"}));
}

TEST_F(PruneTest, PruneFromCutsInlinedCallsOfTheMatch) {
  const LocationId in = m.Function("inner");
  m.InlinedInto(in, "mid");
  m.InlinedInto(in, "outer");
  m.Row({in}, 1);
  PruneFrom(Re("mid"), &p);
  EXPECT_EQ(StacksOf(p), (Stacks{"outer+mid"}));
}

TEST_F(PruneTest, LibrariesThatOnlyAllocateAreLeftOutWithoutNamesToo) {
  const ModuleId program = m.Module("/bin/server");
  const ModuleId library = m.Module("/usr/lib/libjemalloc.so.2");
  const LocationId main = m.Function("main", 1, "x.cc", program);
  const LocationId hook = m.Function("hook", 1, "x.cc", program);
  const LocationId named = m.Function("je_malloc", 1, "x.cc", library);
  const LocationId nameless = m.Function("unseen", 1, "x.cc", library);
  p.locations[nameless].frame_count = 0;
  m.Row({nameless, named, main}, 1);
  m.Row({hook, nameless, main}, 1);  // called back: what the program does itself stays
  m.Row({named, named}, 1);
  PruneAllocatorModules(&p);
  EXPECT_EQ(StacksOf(p), (Stacks{"main", "main  hook", "je_malloc je_malloc"}));
}

}  // namespace
}  // namespace heapgauge::pprof
