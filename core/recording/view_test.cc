#include "core/recording/view.h"

#include <gtest/gtest.h>

#include <set>

namespace heapgauge {
namespace {

const ViewField& Field(std::string_view name) {
  for (const ViewField& field : ViewFields()) {
    if (field.name == name) return field;
  }
  ADD_FAILURE() << name;
  return ViewFields().front();
}

TEST(View, HasEachFieldOnce) {
  std::set<std::string_view> names;
  for (const ViewField& field : ViewFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(field.Given(View()).empty()) << field.name;
  }
}

TEST(View, FieldsAreSetAndReadAsText) {
  for (const ViewField& field : ViewFields()) {
    const auto* choice = std::get_if<ViewField::Choice>(&field.value);
    const std::string text = choice != nullptr ? choice->words.back() : "1";
    View view;
    ASSERT_TRUE(field.Set(text, &view)) << field.name;
    EXPECT_EQ(field.Given(view), std::vector{text}) << field.name;
    EXPECT_EQ(KeyOf(view, field.part), std::string(field.name) + "=" + text + '\0');
    EXPECT_EQ(KeyOf(view, ~uint32_t{field.part}), "");
  }
}

TEST(View, AnEmptyWordOfAListIsNotNone) {
  View view;
  ASSERT_TRUE(Field("live-at").Set("", &view));
  EXPECT_NE(KeyOf(view, kProfileFields), KeyOf(View(), kProfileFields));
}

TEST(View, ChoicesHaveTheWordsOfTheirValues) {
  View view;
  EXPECT_TRUE(Field("sort").Set("allocated", &view));
  EXPECT_EQ(view.sort, SortKey::kAllocated);
  EXPECT_TRUE(Field("granularity").Set("modules", &view));
  EXPECT_EQ(view.granularity, Granularity::kModules);
  EXPECT_TRUE(Field("names").Set("whole", &view));
  EXPECT_EQ(view.names, Names::kWhole);
  EXPECT_TRUE(Field("kind").Set("pool", &view));
  EXPECT_EQ(view.kind, ProfileKind::kPool);
  EXPECT_TRUE(Field("inherited").Set("none", &view));
  EXPECT_EQ(view.inherited, Inherited::kExclude);
  EXPECT_TRUE(Field("inherited").Set("", &view)) << "none is given";
  EXPECT_EQ(view.inherited, Inherited::kExclude);
  EXPECT_FALSE(Field("sort").Set("size", &view));
  EXPECT_FALSE(Field("freed").Set("maybe", &view));
}

TEST(View, ErrorsNameTheField) {
  const auto field_of = [](std::string View::*member) {
    View view;
    view.*member = "?";
    const auto question = QuestionOf(view);
    return question ? "" : question.error().field;
  };
  EXPECT_EQ(field_of(&View::least_size), "min-size");
  EXPECT_EQ(field_of(&View::greatest_lifetime), "max-lifetime");
  EXPECT_EQ(field_of(&View::temporary), "temporary");
  EXPECT_EQ(field_of(&View::value), "value");
  EXPECT_EQ(field_of(&View::at), "") << "the trace reads it";
}

TEST(View, BlocksAreAskedWithoutMomentAndFigure) {
  View view;
  view.at = "peak";
  view.value = "lost";
  view.least_size = "1K";
  const auto blocks = BlocksOf(view);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->filter.least_size, 1024u);
  EXPECT_EQ(blocks->at, "");
  EXPECT_FALSE(QuestionOf(view));
}

}  // namespace
}  // namespace heapgauge
