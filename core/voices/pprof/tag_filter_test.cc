#include "core/voices/pprof/tag_filter.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"
#include "core/voices/pprof/testing/stacks.h"

namespace heapgauge::pprof {
namespace {

using heapgauge::testing::Maker;
using testing::NumberLabel;
using testing::Re;
using testing::SetLabels;
using testing::TextLabel;

// Rows worth 1, 2, 4, 8: which are left is told by the sum of their values.
struct TagFilterTest : ::testing::Test {
  TagFilterTest() {
    const LocationId f = m.Function("f");
    for (const int value : {1, 2, 4, 8}) m.Row({f}, value);
    SetLabels(0, {TextLabel("thread", "io", &p), NumberLabel("bytes", 32 << 10, "", &p)}, &p);
    SetLabels(1, {TextLabel("thread", "main", &p), NumberLabel("bytes", 64 << 10, "", &p)}, &p);
    SetLabels(2,
              {TextLabel("job", "io", &p), TextLabel("thread", "main", &p),
               NumberLabel("latency", 5, "ms", &p)},
              &p);
  }

  int64_t Left() const {
    int64_t sum = 0;
    for (RowId row = 0; row < p.rows.size(); ++row) sum += p.value(row, kInuseSpace);
    return sum;
  }

  int64_t Focus(const std::string& filter) {
    const auto parsed = TagFilter::Parse("tagfocus", filter, &warnings);
    EXPECT_TRUE(parsed) << parsed.error().message;
    Profile saved = p;
    matches = FilterByTags(&*parsed, nullptr, FindLabelUnits(p), &p);
    const int64_t left = Left();
    p = saved;
    return left;
  }

  Maker m;
  Profile& p = m.profile();
  std::vector<std::string> warnings;
  TagMatches matches;
};

TEST_F(TagFilterTest, ATextMatchesKeyAndValueTogether) {
  EXPECT_EQ(Focus("thread:io"), 1);
  EXPECT_EQ(Focus("io"), 5);
  EXPECT_TRUE(matches.first);
  EXPECT_EQ(Focus("nothing"), 0);
  EXPECT_FALSE(matches.first);
}

TEST_F(TagFilterTest, AListWithoutAKeyMustMatchAltogether) { EXPECT_EQ(Focus("io,main"), 4); }

TEST_F(TagFilterTest, AListWithAKeyNeedsOneMatchOfTheValueAlone) {
  EXPECT_EQ(Focus("thread=io,main"), 7);
  EXPECT_EQ(Focus("thread=thread"), 0);
}

TEST_F(TagFilterTest, NumbersMatchExactlyOrByRangeWithBothEnds) {
  EXPECT_EQ(Focus("32kb"), 1);
  EXPECT_EQ(warnings.at(0), "tagfocus:Interpreted '32kb' as range, not regexp");
  EXPECT_EQ(Focus(":32kb"), 1);
  EXPECT_EQ(Focus("33kb:"), 2);
  EXPECT_EQ(Focus("32kb:64kb"), 3);
  EXPECT_EQ(Focus("32768b"), 1);
}

TEST_F(TagFilterTest, UnitsOfAnotherKindDoNotMatch) {
  EXPECT_EQ(Focus("5ms"), 4);
  EXPECT_EQ(Focus("1us:1s"), 4);
  EXPECT_EQ(Focus("1s"), 0);
}

TEST_F(TagFilterTest, ANumberWithoutAKnownUnitIsInAnyUnit) {
  SetLabels(3, {NumberLabel("count", 17, "", &p)}, &p);
  EXPECT_EQ(Focus("16ms:18ms"), 8);
  EXPECT_EQ(Focus("count=16kb:"), 8);
  EXPECT_EQ(Focus("17count"), 8);
}

TEST_F(TagFilterTest, ARangeMayNameItsKey) {
  EXPECT_EQ(Focus("bytes=1kb:"), 3);
  EXPECT_EQ(Focus("latency=1ms:"), 4);
  EXPECT_EQ(Focus("other=1ms:"), 0);
}

TEST_F(TagFilterTest, IgnoreDropsWhatItMatches) {
  const auto ignore = TagFilter::Parse("tagignore", "main", &warnings);
  ASSERT_TRUE(ignore);
  const TagMatches m2 = FilterByTags(nullptr, &*ignore, FindLabelUnits(p), &p);
  EXPECT_TRUE(m2.second);
  EXPECT_EQ(Left(), 9);
}

TEST_F(TagFilterTest, ABadExpressionIsAnErrorThatNamesTheOption) {
  const auto parsed = TagFilter::Parse("tagfocus", "a(", &warnings);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message,
            "parsing tagfocus regexp: error parsing regexp: missing closing ): `a(`");
}

TEST_F(TagFilterTest, ANumberTooLargeIsAnError) {
  EXPECT_FALSE(TagFilter::Parse("tagfocus", "99999999999999999999kb", &warnings));
}

TEST_F(TagFilterTest, TagsAreShownAndHiddenByKey) {
  const Regex show = Re("thread|job");
  const Regex hide = Re("job");
  const TagMatches m2 = FilterTagNames(&show, &hide, &p);
  EXPECT_TRUE(m2.first);
  EXPECT_TRUE(m2.second);
  for (RowId row = 0; row < 3; ++row) {
    ASSERT_EQ(p.LabelsOf(row).size(), 1u);
    EXPECT_EQ(p.strings[p.LabelsOf(row)[0].key], "thread");
  }
  EXPECT_TRUE(p.Check());
  const Regex none = Re("nothing");
  EXPECT_FALSE(FilterTagNames(&none, nullptr, &p).first);
  EXPECT_TRUE(p.LabelsOf(0).empty());
}

TEST_F(TagFilterTest, TheFirstUnitOfAKeyIsUsedAndOthersAreTold) {
  SetLabels(3, {NumberLabel("latency", 1, "s", &p), NumberLabel("request", 1, "", &p)}, &p);
  const LabelUnits units = FindLabelUnits(p, &warnings);
  EXPECT_EQ(units.at("latency"), "ms");
  EXPECT_EQ(units.at("bytes"), "bytes");
  EXPECT_EQ(units.at("request"), "bytes");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "For tag latency used unit ms, also encountered unit(s) s");
}

}  // namespace
}  // namespace heapgauge::pprof
