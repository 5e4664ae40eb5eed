#include "core/base/numbers.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Units, ConvertWithinOneKind) {
  EXPECT_EQ(UnitRatio("kB", "bytes"), 1024);
  EXPECT_EQ(UnitRatio("bytes", "MB"), 1.0 / (1 << 20));
  EXPECT_EQ(UnitRatio("seconds", "ms"), 1000);
  EXPECT_EQ(UnitRatio("\u03bcs", "ns"), 1000);
  EXPECT_EQ(UnitRatio("gcu", "milligcu"), 1000);
  EXPECT_EQ(UnitRatio("hrs", "s"), 3600);
}

TEST(Units, EqualNamesNeedNotBeKnown) { EXPECT_EQ(UnitRatio("widgets", "widgets"), 1); }

TEST(Units, OtherKindsDoNotConvert) {
  EXPECT_FALSE(UnitRatio("bytes", "seconds"));
  EXPECT_FALSE(UnitRatio("bytes", "count"));
  EXPECT_FALSE(UnitRatio("", "bytes"));
}

}  // namespace
}  // namespace heapgauge
