#include "core/base/text.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Columns, AreNotBytes) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\u00b17%"), 3u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u) << "an accent of its own takes no column";
  EXPECT_EQ(DisplayWidth("\u8a18\u61b6"), 4u) << "ideographs take two";
  EXPECT_EQ(DisplayWidth("\u2026\u2514\u2500"), 3u);
}

TEST(Columns, BrokenTextCountsByBytes) {
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2u);
  EXPECT_EQ(DisplayWidth("a\xe2\x80"), 3u) << "cut off at the end";
  EXPECT_EQ(DisplayWidth("\xe2(\x80"), 3u);
}

TEST(Columns, CutsNeverSplitACharacter) {
  EXPECT_EQ(FirstColumns("\u8a18\u61b6", 3), "\u8a18");
  EXPECT_EQ(LastColumns("\u8a18\u61b6", 3), "\u61b6");
  EXPECT_EQ(LastColumns("xe\u0301f", 1), "f");
  EXPECT_EQ(FirstColumns("abc", 9), "abc");
  EXPECT_EQ(LastColumns("abc", 0), "");
}

TEST(Columns, Pads) {
  EXPECT_EQ(PadLeft("\u8a18", 4), "  \u8a18");
  EXPECT_EQ(PadRight("ab", 4), "ab  ");
  EXPECT_EQ(PadLeft("abc", 2), "abc");
}

}  // namespace
}  // namespace heapgauge
