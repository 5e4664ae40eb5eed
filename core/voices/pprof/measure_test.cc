#include "core/voices/pprof/measure.h"

#include <gtest/gtest.h>

#include <limits>

namespace heapgauge::pprof {
namespace {

TEST(MeasureTest, PicksTheLargestUnitThatLeavesAtLeastOne) {
  EXPECT_EQ(Label(0, "bytes"), "0");
  EXPECT_EQ(Label(1023, "bytes"), "1023B");
  EXPECT_EQ(Label(1024, "bytes"), "1kB");
  EXPECT_EQ(Label(1536, "bytes"), "1.50kB");
  EXPECT_EQ(Label(-3 << 20, "bytes"), "-3MB");
  EXPECT_EQ(Label(int64_t{7} << 50, "b"), "7PB");
  EXPECT_EQ(Label(1, "kilobytes"), "1kB");
  EXPECT_EQ(Label(1500, "nanoseconds"), "1.50us");
  EXPECT_EQ(Label(7200, "secs"), "2hrs");
  EXPECT_EQ(Label(1500, "milliGCU"), "1.50GCU");
}

TEST(MeasureTest, ShowsCountsAndUnknownUnitsAsTheyAre) {
  EXPECT_EQ(Label(12, "count"), "12");
  EXPECT_EQ(ScaledLabel(12, "count", "minimum"), "12");
  EXPECT_EQ(ScaledLabel(12, "count", "count"), "12");
  EXPECT_EQ(ScaledLabel(12, "widgets", "widgets"), "12widgets");
  EXPECT_EQ(ScaledLabel(80, "count", "kB"), "80") << "objects have no kilobytes";
  EXPECT_EQ(ScaledLabel(80, "count", "seconds"), "80");
}

TEST(MeasureTest, ConvertsToTheUnitAskedFor) {
  EXPECT_EQ(ScaledLabel(1536, "bytes", "kB"), "1.50kB");
  EXPECT_EQ(ScaledLabel(1536, "bytes", "megabytes"), "0");
  EXPECT_EQ(ScaledLabel(2048, "bytes", "seconds"), "2048B") << "another kind: the basic unit";
  EXPECT_EQ(ScaledLabel(5, "ms", "bytes"), "0.01s");
}

TEST(MeasureTest, CutsWhatRoundsToNothing) {
  EXPECT_EQ(ScaledLabel(1, "bytes", "mb"), "0");
  EXPECT_EQ(ScaledLabel(-1, "bytes", "mb"), "0");
}

TEST(MeasureTest, PercentagesHaveTwoDigitsThatMatter) {
  EXPECT_EQ(Percentage(1, 1), "  100%");
  EXPECT_EQ(Percentage(9996, 10000), "  100%");
  EXPECT_EQ(Percentage(9994, 10000), "99.94%");
  EXPECT_EQ(Percentage(1, 8), "12.50%");
  EXPECT_EQ(Percentage(1, 80), " 1.25%");
  EXPECT_EQ(Percentage(1, 800), " 0.12%");
  EXPECT_EQ(Percentage(1, 80000), "0.0013%");
  EXPECT_EQ(Percentage(-1, 8), "12.50%");
  EXPECT_EQ(Percentage(0, 8), "    0%");
  EXPECT_EQ(Percentage(3, 0), "    0%");
  EXPECT_EQ(Percentage(1, 10'000'000), "1e-05%");
  EXPECT_EQ(TrimmedPercentage(1, 800), "0.12%");
}

TEST(MeasureTest, TheSmallestNumberHasNoPositiveTwin) {
  EXPECT_EQ(ScaledLabel(std::numeric_limits<int64_t>::min(), "count", "auto"),
            "-9223372036854775808");
}

TEST(MeasureTest, DividesBeforeItScales) {
  EXPECT_EQ(ValueFormat(2, "bytes", "auto")(4096), "2kB");
  EXPECT_EQ(ValueFormat(3, "count", "auto")(10), "3");
  EXPECT_EQ(ValueFormat(1, "count", "auto")(10), "10");
  EXPECT_EQ(ValueFormat(-2, "count", "auto")(10), "10") << "pprof ignores negative divisors";
}

}  // namespace
}  // namespace heapgauge::pprof
