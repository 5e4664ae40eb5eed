// Compiled twice: with RE2, and with PCRE2 as the service library has it.
#include "core/base/regex.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Regex, GroupsHoldWhatTheirBracketsMatched) {
  const Regex regex(R"((\d+)-(\d+)(?: (\w+))?)");
  std::string_view first, second;
  std::string_view third = "as before";
  const std::string text = "at 12-345.";
  ASSERT_TRUE(regex.Matches(text, &first, &second, &third));
  EXPECT_EQ(first, "12");
  EXPECT_EQ(second, "345");
  EXPECT_EQ(first.data(), text.data() + 3);
  EXPECT_TRUE(third.empty());
  first = "as before";
  EXPECT_FALSE(regex.Matches("at 12", &first));
  EXPECT_EQ(first, "as before");
  EXPECT_FALSE(Regex("a").Matches("a", &first)) << "it has no brackets";
}

TEST(Regex, TheWholeOrTheStartCanBeAskedFor) {
  const Regex regex("a|ab");
  EXPECT_TRUE(regex.Matches("xaby"));
  EXPECT_TRUE(regex.MatchesWhole("ab"));
  EXPECT_FALSE(regex.MatchesWhole("ab\n"));
  std::string_view text = "abab";
  const Regex pair("a(b)");
  std::string_view b;
  EXPECT_TRUE(pair.Take(&text, &b));
  EXPECT_EQ(b, "b");
  EXPECT_TRUE(pair.Take(&text));
  EXPECT_EQ(text, "");
  text = "bab";
  EXPECT_FALSE(pair.Take(&text));
  EXPECT_EQ(text, "bab");
}

TEST(Regex, APointIsACharacterOrAByte) {
  EXPECT_TRUE(Regex("^.$", RegexOver::kText).Matches("\u00e9"));
  EXPECT_FALSE(Regex("^.$").Matches("\u00e9"));
  EXPECT_TRUE(Regex("^..$").Matches("\xff\xfe"));
  EXPECT_FALSE(Regex("^..$", RegexOver::kText).Matches("\xff\xfe"));
}

TEST(Regex, AnEmptyTextIsAText) {
  EXPECT_TRUE(Regex("^$").Matches({}));
  EXPECT_TRUE(Regex("").MatchesWhole({}));
  EXPECT_FALSE(Regex(".").Matches({}));
}

TEST(Regex, WhatIsWrongIsSaid) {
  EXPECT_TRUE(Regex::Compile("(").error().message.starts_with("error parsing regexp: "));
  EXPECT_TRUE(Regex::CompileTyped("(").error().message.starts_with(
      "'(' is not a regular expression: error parsing regexp: "));
  EXPECT_TRUE(Regex::CompileOption("focus", "(")
                  .error()
                  .message.starts_with("parsing focus regexp: error parsing regexp: "));
  EXPECT_TRUE(Regex::CompilePerl("(").error().message.starts_with("regular expression '(': "));
  EXPECT_EQ(*Regex::CompileOption("focus", ""), nullptr);
  EXPECT_EQ(Regex::Compile("a+")->pattern(), "a+");
}

}  // namespace
}  // namespace heapgauge
