#include "core/voices/pprof/report.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;
using testing::SetLabels;
using testing::StacksOf;
using testing::TextLabel;
using Stacks = std::vector<std::string>;

struct FiltersTest : ::testing::Test {
  FiltersTest() {
    const LocationId b = m.Function("b"), a = m.Function("a"), main = m.Function("main");
    m.Row({b, a, main}, 1);
    m.Row({a, main}, 2);
    SetLabels(0, {TextLabel("thread", "io", &p)}, &p);
  }
  std::string ErrorOf(const Config& config) {
    const Status status = ApplyFilters(config, &p, &warnings);
    return status ? "" : status.error().message;
  }
  Maker m;
  Profile& p = m.profile();
  std::vector<std::string> warnings;
};

TEST_F(FiltersTest, FramesOfTagsCanBeFilteredByTheOthers) {
  Config config;
  config.tag_root = "thread";
  config.focus = "^io$";
  config.hide = "main";
  ASSERT_EQ(ErrorOf(config), "");
  EXPECT_EQ(StacksOf(p), (Stacks{"io a b"}));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(FiltersTest, EveryFilterThatMatchesNothingIsTold) {
  Config config;
  config.ignore = config.hide = config.tag_ignore = config.tag_hide = "nothing";
  config.tag_root = config.tag_leaf = "absent";
  ASSERT_EQ(ErrorOf(config), "");
  EXPECT_EQ(
      warnings,
      (Stacks{"TagRoot expression matched no samples", "TagLeaf expression matched no samples",
              "Ignore expression matched no samples", "Hide expression matched no samples",
              "TagIgnore expression matched no samples", "TagHide expression matched no samples"}));
  EXPECT_EQ(p.rows.size(), 2u);
  config = Config();
  warnings.clear();
  config.focus = config.show = config.show_from = config.tag_focus = config.tag_show = "nothing";
  ASSERT_EQ(ErrorOf(config), "");
  EXPECT_EQ(
      warnings,
      (Stacks{"Focus expression matched no samples", "Show expression matched no samples",
              "ShowFrom expression matched no samples", "TagFocus expression matched no samples",
              "TagShow expression matched no samples"}));
  EXPECT_TRUE(p.rows.empty());
}

TEST_F(FiltersTest, PruneFromComesLast) {
  Config config;
  config.prune_from = "^a$";
  config.focus = "b";
  ASSERT_EQ(ErrorOf(config), "");
  EXPECT_EQ(StacksOf(p), (Stacks{"main a"}));
}

TEST_F(FiltersTest, ABadExpressionIsToldInGosWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"(", "missing closing ): `(`"},
      {"a[", "missing closing ]: `[`"},
      {"*", "missing argument to repetition operator: `*`"},
      {"a**", "invalid nested repetition operator: `**`"},
      {"a{9999}", "invalid repeat count: `{9999}`"},
      {"(?=a)", "invalid or unsupported Perl syntax: `(?=`"},
      {"\\", "trailing backslash at end of expression: ``"},
      {"a)", "unexpected ): `a)`"},
      {"\\8", "invalid escape sequence: `\\8`"},
      {"[b-a]", "invalid character class range: `b-a`"},
  };
  for (const auto& [pattern, words] : cases) {
    Config config;
    config.focus = pattern;
    EXPECT_EQ(ErrorOf(config), std::string("parsing focus regexp: error parsing regexp: ") + words);
  }
  EXPECT_EQ(p.rows.size(), 2u);
}

}  // namespace
}  // namespace heapgauge::pprof
