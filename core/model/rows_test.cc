// Tests of profile.h and label_sets.h.

#include <gtest/gtest.h>

#include "core/model/label_sets.h"
#include "core/model/profile.h"

namespace heapgauge {
namespace {

TEST(KeepRows, TakesAllThatBelongsToARowWithIt) {
  Profile p;
  p.sample_types = {{"a", "count"}, {"b", "count"}};
  p.rows.resize(3);
  for (RowId row = 0; row < 3; ++row) p.rows[row].samples = row;
  p.values = {1, 2, 3, 4, 5, 6};
  p.estimates.resize(6);
  p.estimates[4].value = 5;
  p.blocks.resize(2);
  p.blocks[0].row = 1;
  p.blocks[1].row = 2;
  p.unknown_fields = {{UnknownFields::Owner::kSample, 1, "gone"},
                      {UnknownFields::Owner::kSample, 2, "stays"}};
  KeepRows({true, false, true}, &p);
  ASSERT_EQ(p.rows.size(), 2u);
  EXPECT_EQ(p.rows[1].samples, 2u);
  EXPECT_EQ(p.values, (std::vector<int64_t>{1, 2, 5, 6}));
  EXPECT_EQ(p.estimates[2].value, 5);
  ASSERT_EQ(p.blocks.size(), 1u);
  EXPECT_EQ(p.blocks[0].row, 1u);
  ASSERT_EQ(p.unknown_fields.size(), 1u);
  EXPECT_EQ(p.unknown_fields[0].id, 1u);
  EXPECT_TRUE(p.Check());
}

TEST(LabelSets, EachSetIsThereOnce) {
  Profile p;
  LabelStrings strings(&p);
  LabelSets sets(&p);
  std::vector<LabelSetId> ids;
  for (int64_t round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < 1000; ++i) {
      Label label;
      label.key = strings.Add("bytes");
      label.number = i;
      const LabelSetId id = sets.Add({&label, 1});
      if (round == 0) ids.push_back(id);
      ASSERT_EQ(id, ids[static_cast<size_t>(i)]);
    }
  }
  EXPECT_EQ(p.label_sets.size(), 1000u);
  EXPECT_EQ(p.strings.size(), 1u);
  EXPECT_EQ(sets.Add({}), kNone);
  EXPECT_TRUE(LabelSets(&p).distinct());
  p.label_sets.push_back(p.label_sets[0]);
  EXPECT_FALSE(LabelSets(&p).distinct());
  p.strings.push_back("bytes");
  EXPECT_FALSE(LabelStrings(&p).distinct());
}

TEST(LabelSets, TextsComeBeforeNumbersAndKeysAreSorted) {
  Profile p;
  p.strings = {"b", "a"};
  std::vector<Label> labels = {
      {0, kNone, kNone, 2}, {1, kNone, kNone, 9}, {0, kNone, kNone, 1}, {0, 0, kNone, 0}};
  EXPECT_TRUE(SortLabels(p, labels));
  EXPECT_EQ(
      labels,
      (std::vector<Label>{
          {0, 0, kNone, 0}, {1, kNone, kNone, 9}, {0, kNone, kNone, 2}, {0, kNone, kNone, 1}}));
  EXPECT_FALSE(SortLabels(p, labels));
}

}  // namespace
}  // namespace heapgauge
