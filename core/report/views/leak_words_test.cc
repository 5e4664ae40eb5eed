#include "core/report/views/leak_parts.h"

#include <gtest/gtest.h>

#include "core/leaks/verdict/suspects.h"
#include "core/report/testing/leaks_report.h"

namespace heapgauge::testing {
namespace {

TEST(LeakWordsTest, TellAnEstimateInOneWay) {
  constexpr double kMega = 1 << 20;
  const auto text = [](double value, double deviation) {
    return leaks::EstimateText({value, deviation * deviation, 1, 0, 0});
  };
  EXPECT_TRUE(Contains(text(310 * kMega, 20 * kMega), "310 MB ± 39"))
      << text(310 * kMega, 20 * kMega);
  // Not ± 0.0.
  const std::string sure = text(1800 * kMega, 20 * kMega);
  EXPECT_TRUE(Contains(sure, "1.8 GB ± 39") && Contains(sure, " MB")) << sure;
  EXPECT_EQ(text(1800 * kMega, 0.1 * kMega), "1.8 GB");
  EXPECT_TRUE(Contains(text(65 * 1024, 65 * 1024), "65.0 kB (95 %: "))
      << text(65 * 1024, 65 * 1024);
}

TEST(LeakWordsTest, GiveTheRangeWhereItIsWiderThanTheFigure) {
  const Estimate one = {1000 * 1024.0, 1e6 * 1024.0 * 1024.0, 999 * 1024.0, 1024, 1e9};
  const std::string text = leaks::EstimateText(one);
  EXPECT_TRUE(Contains(text, "1000 kB (95 %: ")) << text;
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
  EXPECT_EQ(WithCommas(-1), "0");
}

}  // namespace
}  // namespace heapgauge::testing
