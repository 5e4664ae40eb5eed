#include "core/formats/text/scan.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"

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

TEST(Scan, TakesHexadecimalNumbersOfAnyLengthBeforeAnyByte) {
  const std::string digits = "123456789abcdef0";
  for (size_t length = 1; length <= digits.size(); ++length) {
    const std::string number = digits.substr(0, length);
    for (int c = 0; c < 256; ++c) {
      if (HexDigit(static_cast<char>(c)) >= 0) continue;
      for (const size_t behind : {1, 7, 20}) {
        const std::string text = number + std::string(behind, static_cast<char>(c)) + "5";
        uint64_t value = 0;
        size_t at = 0;
        ASSERT_EQ(TakeHex(text, &at, &value), Taken::kYes) << number << " before byte " << c;
        ASSERT_EQ(value, std::stoull(number, nullptr, 16)) << number << " before byte " << c;
        ASSERT_EQ(at, length) << number << " before byte " << c;
      }
    }
  }
  for (int c = 0; c < 256; ++c) {
    const std::string text = std::string(1, static_cast<char>(c)) + "       ";
    uint64_t value = 0;
    size_t at = 0;
    const int digit = HexDigit(static_cast<char>(c));
    ASSERT_EQ(TakeHex(text, &at, &value), digit >= 0 ? Taken::kYes : Taken::kNo) << c;
    if (digit < 0) continue;
    ASSERT_EQ(value, static_cast<uint64_t>(digit));
  }
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
  EXPECT_EQ(Trim(" \ta b\r"), "a b");
}

}  // namespace
}  // namespace heapgauge
