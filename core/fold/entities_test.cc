#include "core/fold/frames.h"

#include <gtest/gtest.h>

#include <set>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

TEST(Entities, FunctionsAreOneOnlyByLinkerNameAndFile) {
  Maker m;
  const auto a = m.Function("f(int)", 1, "a.cc", kNone, "_Z1fi");
  const auto again = m.Function("f(int)", 2, "a.cc", kNone, "_Z1fi");
  const auto overload = m.Function("f(long)", 1, "a.cc", kNone, "_Z1fl");
  const auto elsewhere = m.Function("f(int)", 1, "b.cc", kNone, "_Z1fi");
  const Entities e(m.profile(), Granularity::kFunctions);
  EXPECT_EQ(e.Of(a, 0), e.Of(again, 0));
  EXPECT_EQ((std::set{e.Of(a, 0), e.Of(overload, 0), e.Of(elsewhere, 0)}.size()), 3u);
}

TEST(Entities, WithoutAFileTheModuleDecides) {
  Maker m;
  const auto one = m.Module("/lib/one.so");
  const auto two = m.Module("/lib/two.so");
  const auto same = m.Module("/lib/one.so");  // loaded twice
  const auto a = m.Function("init", 0, "", one);
  const auto b = m.Function("init", 0, "", two);
  const auto c = m.Function("init", 0, "", same);
  const auto d = m.Function("inline", 0, "x.h", one);
  const auto f = m.Function("inline", 0, "x.h", two);
  const Entities e(m.profile(), Granularity::kFunctions);
  EXPECT_NE(e.Of(a, 0), e.Of(b, 0));
  EXPECT_EQ(e.Of(a, 0), e.Of(c, 0));
  EXPECT_EQ(e.Of(d, 0), e.Of(f, 0)) << "from a header: the same function in both";
  EXPECT_NE(IdentityOf(m.profile(), e, e.Of(a, 0)), IdentityOf(m.profile(), e, e.Of(b, 0)));
}

TEST(Entities, AreAsFineAsAskedFor) {
  Maker m;
  const auto lib = m.Module("/lib/one.so");
  const auto a = m.Function("f", 1, "a.cc", lib);
  const auto b = m.Function("f", 2, "a.cc", lib);
  const auto c = m.Function("g", 2, "a.cc", lib);
  m.InlinedInto(c, "h", 3, "b.cc");
  const auto count = [&](Granularity granularity) {
    return Entities(m.profile(), granularity).size();
  };
  EXPECT_EQ(count(Granularity::kFunctions), 3u);
  EXPECT_EQ(count(Granularity::kLines), 4u);
  EXPECT_EQ(count(Granularity::kFiles), 2u);
  EXPECT_EQ(count(Granularity::kModules), 1u);
  EXPECT_EQ(count(Granularity::kAddresses), 4u);
  const Entities lines(m.profile(), Granularity::kLines);
  EXPECT_NE(lines.Of(a, 0), lines.Of(b, 0));
  EXPECT_NE(lines.Of(c, 0), lines.Of(c, 1));
  std::set<std::string> identities;
  for (EntityId id = 0; id < lines.size(); ++id) {
    identities.insert(IdentityOf(m.profile(), lines, id));
  }
  EXPECT_EQ(identities.size(), lines.size());
}

TEST(Entities, GranularitiesHaveNames) {
  EXPECT_STREQ(GranularityName(Granularity::kFunctions), "functions");
  EXPECT_STREQ(GranularityName(Granularity::kAddresses), "addresses");
}

}  // namespace
}  // namespace heapgauge
