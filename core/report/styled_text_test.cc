#include "core/report/styled_text.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(StyledText, IsPlainWhereThereIsNoColour) {
  StyledText text;
  text.Add("a", Style::kNumber).AddLeft("b", 3, Style::kDim).AddRight("c", 3).Add("d");
  EXPECT_EQ(text.text(), "a  bc  d");
  EXPECT_EQ(Render(text, {false, true}), "a  bc  d");
  EXPECT_EQ(Render(text, {true, true}), "\033[1ma\033[0m  \033[2mb\033[0mc  d");
}

TEST(StyledText, AsciiForTerminalsThatKnowNothingElse) {
  const StyledText text("\u251c\u2500 \u00b17% \u8a18\xc3\xa9");
  EXPECT_EQ(Render(text, {false, false}), "|- ~7% ???");
}

TEST(StyledText, SplitsAndCutsWithItsMarks) {
  StyledText text("one", Style::kTitle);
  text.Add("\ntw").Add("o\n\n", Style::kDim);
  const auto lines = text.Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text(), "one");
  EXPECT_EQ(lines[1].text(), "two");
  EXPECT_EQ(lines[2].text(), "");
  EXPECT_EQ(Render(lines[1].Cut(3), {true, true}), "tw\033[2mo\033[0m");
  EXPECT_EQ(Render(lines[1].Cut(2), {true, true}), "tw");
  EXPECT_TRUE(StyledText("\n").Lines().size() == 1);
}

}  // namespace
}  // namespace heapgauge
