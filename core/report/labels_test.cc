#include "core/report/labels.h"

#include <gtest/gtest.h>

#include <set>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

std::vector<std::string> AllLabels(const Profile& profile, Granularity granularity,
                                   Names names = Names::kShort) {
  const Entities entities(profile, granularity);
  std::vector<EntityId> all;
  for (EntityId id = 0; id < entities.size(); ++id) all.push_back(id);
  const Labels labels(profile, entities, all, names, {});
  std::vector<std::string> texts;
  for (const EntityId id : all) texts.push_back(labels[id]);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Labels, AreShortUnlessThatIsAmbiguous) {
  Maker m;
  m.Function("ns::Single<int>::Run(int)");
  m.Function("f(int)", 1, "x.cc", kNone, "_Z1fi");
  m.Function("f(long)", 1, "x.cc", kNone, "_Z1fl");
  m.Function("g<int>()");
  m.Function("g<long>()");
  m.Function("M<A>::run(A&, Options const&)");
  m.Function("M<B>::run(B&, Options const&)");
  EXPECT_EQ(AllLabels(m.profile(), Granularity::kFunctions),
            (Texts{"ns::Single<…>::Run", "f(int)", "f(long)", "g<int>", "g<long>", "M<A>::run",
                   "M<B>::run"}));
}

TEST(Labels, OnlyWhatIsShownNeedsToDiffer) {
  Maker m;
  const auto f = m.Function("f(int)");
  m.Function("f(long)");
  const Entities entities(m.profile(), Granularity::kFunctions);
  const Labels labels(m.profile(), entities, {entities.Of(f, 0), kNone}, Names::kShort, {});
  EXPECT_EQ(labels[entities.Of(f, 0)], "f");
  EXPECT_EQ(labels[kNone], "(unknown stack)");
}

TEST(Labels, EqualNamesGetTheirFileOrModule) {
  Maker m;
  const auto one = m.Module("/lib/one.so");
  const auto two = m.Module("/lib/two.so");
  m.Function("init()", 1, "/src/a.cc", one);
  m.Function("init()", 1, "/src/b.cc", one);
  m.Function("start", 0, "", one);
  m.Function("start", 0, "", two);
  m.Function("A::A()", 1, "a.cc", one, "_ZN1AC1Ev");
  m.Function("A::A()", 1, "a.cc", one, "_ZN1AC2Ev");
  for (const Names names : {Names::kShort, Names::kWhole}) {
    const Texts labels = AllLabels(m.profile(), Granularity::kFunctions, names);
    EXPECT_EQ((std::set<std::string>(labels.begin(), labels.end()).size()), labels.size());
  }
  const Texts labels = AllLabels(m.profile(), Granularity::kFunctions);
  EXPECT_EQ(labels[0], "init [a.cc]");
  EXPECT_EQ(labels[3], "start [two.so]");
  EXPECT_NE(labels[4].find("_ZN1AC1Ev"), std::string::npos) << labels[4];
}

TEST(Labels, LinesOfOneFunctionShareItsName) {
  Maker m;
  m.Function("f(int)", 1);
  m.Function("f(int)", 2);
  m.Function("g(int)", 2, "x.cc", kNone, "_Z1gi");
  m.Function("g(long)", 2, "x.cc", kNone, "_Z1gl");
  EXPECT_EQ(AllLabels(m.profile(), Granularity::kLines), (Texts{"f", "f", "g(int)", "g(long)"}));
}

TEST(Labels, FilesModulesAndAddresses) {
  Maker m;
  const auto one = m.Module("/lib/one.so");
  const auto other = m.Module("/opt/one.so");
  m.Function("f(int)", 1, "/src/a.cc", one);
  m.Function("g", 0, "", other);
  EXPECT_EQ(AllLabels(m.profile(), Granularity::kFiles), (Texts{"/src/a.cc", "(no file) one.so"}));
  EXPECT_EQ(AllLabels(m.profile(), Granularity::kModules), (Texts{"/lib/one.so", "/opt/one.so"}));
  EXPECT_EQ(AllLabels(m.profile(), Granularity::kAddresses), (Texts{"0x1000 f", "0x1010 g"}));
}

TEST(Labels, FramesHaveNamesForOtherFormats) {
  Maker m;
  const auto f = m.Function("f<int>(int)", 7, "/src/a.h");
  m.InlinedInto(f, "main", 9, "/src/a.cc");
  EXPECT_EQ(FrameNames(m.profile(), Granularity::kFunctions, Names::kShort),
            (Texts{"f<…>", "main"}));
  EXPECT_EQ(FrameNames(m.profile(), Granularity::kLines, Names::kWhole),
            (Texts{"f<int>(int) a.h:7", "main a.cc:9"}));
}

TEST(FitLabel, ThePlaceGivesWayBeforeTheName) {
  const Granularity f = Granularity::kFunctions;
  EXPECT_EQ(FitLabel("ns::Class::Method", "a.cc:1", f, 30, {}).text(), "ns::Class::Method a.cc:1");
  EXPECT_EQ(FitLabel("ns::Class::Method", "a.cc:1", f, 20, {}).text(), "ns::Class::Method");
  EXPECT_EQ(FitLabel("ns::Class::Method", "a.cc:1", f, 12, {}).text(), "ns:…::Method");
  EXPECT_EQ(FitLabel("/a/long/path/to/file.cc", "", Granularity::kFiles, 12, {}).text(),
            "…/to/file.cc");
}

}  // namespace
}  // namespace heapgauge
