#include "core/formats/text/scan.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(Scan, TakesHexadecimalNumbersThatFit) {
  uint64_t value = 0;
  size_t at = 0;
  EXPECT_EQ(TakeHex("12aFg", &at, &value), Taken::kYes);
  EXPECT_EQ(value, 0x12afu);
  EXPECT_EQ(at, 4u);
  at = 0;
  EXPECT_EQ(TakeHex("ffffffffffffffff", &at, &value), Taken::kYes);
  EXPECT_EQ(value, ~uint64_t{0});
  at = 0;
  EXPECT_EQ(TakeHex("0000000000000000000012", &at, &value), Taken::kYes);
  EXPECT_EQ(value, 0x12u);
  at = 0;
  EXPECT_EQ(TakeHex("10000000000000000", &at, &value), Taken::kTooLarge);
  EXPECT_EQ(TakeHex("x", &at, &value), Taken::kNo);
  EXPECT_EQ(TakeHex("", &at, &value), Taken::kNo);
  EXPECT_EQ(at, 0u);
}

TEST(Scan, TakesDecimalNumbersThatFit) {
  int64_t value = 0;
  size_t at = 0;
  EXPECT_EQ(TakeDecimal("-12:", &at, &value), Taken::kYes);
  EXPECT_EQ(value, -12);
  EXPECT_EQ(at, 3u);
  at = 0;
  EXPECT_EQ(TakeDecimal("9223372036854775807", &at, &value), Taken::kYes);
  at = 0;
  EXPECT_EQ(TakeDecimal("9223372036854775808", &at, &value), Taken::kTooLarge);
  EXPECT_EQ(TakeDecimal("-", &at, &value), Taken::kNo);
}

TEST(Scan, KnowsBlanksAndComments) {
  EXPECT_TRUE(IsBlankOrComment(" \t"));
  EXPECT_TRUE(IsBlankOrComment("  # x"));
  EXPECT_FALSE(IsBlankOrComment(" x"));
  EXPECT_EQ(Trimmed(" \ta b\r"), "a b");
}

}  // namespace
}  // namespace heapgauge
