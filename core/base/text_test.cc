#include "core/base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace heapgauge {
namespace {

TEST(Text, BytesAreShownWithThreeDigits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(831), "831 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 kB");
  EXPECT_EQ(FormatBytes(12.3 * 1024 * 1024), "12.3 MB");
  EXPECT_EQ(FormatBytes(123.4 * 1024 * 1024), "123 MB");
  EXPECT_EQ(FormatBytes(1023.9 * 1024), "1.0 MB");  // not "1024 kB"
  EXPECT_EQ(FormatBytes(-5), "0 B");
  EXPECT_EQ(FormatBytes(std::numeric_limits<double>::quiet_NaN()), "0 B");
  EXPECT_EQ(FormatBytes(1e30), FormatBytes(1e30));  // absurd values still end
}

TEST(Text, RangesNameTheUnitOnceIfTheyCan) {
  EXPECT_EQ(FormatByteRange(10.1 * 1048576, 14.8 * 1048576), "10.1-14.8 MB");
  EXPECT_EQ(FormatByteRange(13 * 1024, 2.8 * 1048576), "13.0 kB-2.8 MB");
  EXPECT_EQ(FormatByteRange(0, 1048576), "0-1.0 MB");
}

TEST(Text, PlusMinusIsHalfTheWidth) {
  EXPECT_EQ(FormatPlusMinus(100, 90, 110), "±10%");
  EXPECT_EQ(FormatPlusMinus(1000, 998, 1002), "±0.2%");
  EXPECT_EQ(FormatPlusMinus(100, 100, 100), "");
  EXPECT_EQ(FormatPlusMinus(1, 0, 1000), "±>999%");
  EXPECT_EQ(FormatPlusMinus(0, 0, 10), "");
}

TEST(Text, CountsHaveThousands) {
  EXPECT_EQ(FormatCount(7), "7");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(12345), "12,345");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(12345678), "12.3M");
}

TEST(Text, SharesKeepSmallOnesVisible) {
  EXPECT_EQ(FormatShare(1, 4), "25.0%");
  EXPECT_EQ(FormatShare(3, 10000), "0.03%");
  EXPECT_EQ(FormatShare(4, 4), "100%");
  EXPECT_EQ(FormatShare(1, 0), "-");
}

TEST(Text, DurationsUseTwoUnits) {
  EXPECT_EQ(FormatDuration(850'000'000), "850ms");
  EXPECT_EQ(FormatDuration(1'500'000'000), "1.5s");
  EXPECT_EQ(FormatDuration(12'000'000'000), "12s");
  EXPECT_EQ(FormatDuration(185'000'000'000), "3m05s");
  EXPECT_EQ(FormatDuration(8'040'000'000'000), "2h14m");
  EXPECT_EQ(FormatDuration(442'800'000'000'000), "5d03h");
  EXPECT_EQ(FormatDuration(958'600'000), "959ms") << "as lifetimes are";
}

TEST(Text, SizesAreReadInAllUsualForms) {
  const std::pair<const char*, uint64_t> good[] = {
      {"4096", 4096},    {"512K", 524288},  {"512k", 524288},  {"512KiB", 524288},
      {"512kB", 524288}, {"1M", 1048576},   {"1.5M", 1572864}, {"2G", 2147483648},
      {"4096B", 4096},   {"512 K", 524288}, {"0", 0},          {"1T", 1099511627776}};
  for (const auto& [text, bytes] : good) {
    const auto size = ParseSize(text);
    ASSERT_TRUE(size) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
  for (const char* bad :
       {"", "K", "-1", "12X", "1KK", "1e300", "nan", "inf", "5KiBx", "99999999T"}) {
    const auto size = ParseSize(bad);
    ASSERT_FALSE(size) << bad;
    EXPECT_NE(size.error().message.find("512K"), std::string::npos) << "an example helps";
  }
}

TEST(Text, PrintableTakesOutWhatATerminalWouldObey) {
  EXPECT_EQ(Printable("a\x1b[31mb\n"), "a?[31mb?");
  EXPECT_EQ(Printable("\xc3\xa9"), "\xc3\xa9");
  EXPECT_EQ(Printable("\xff\xc3"), "??");
  EXPECT_EQ(Printable("\xc2\x9b"), "??");            // a control character in UTF-8
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "????");  // beyond Unicode
}

TEST(Text, CuttingAndPaddingCountColumns) {
  EXPECT_EQ(CutTo("abcdefgh", 6), "abc...");
  EXPECT_EQ(CutTo("abc", 6), "abc");
  EXPECT_EQ(CutTo("éééééé", 5), "éé...");
  EXPECT_EQ(CutTo("abcdef", 2), "..");
  EXPECT_EQ(PadLeft("±5%", 5), "  ±5%");
  EXPECT_EQ(PadRight("±5%", 5), "±5%  ");
}

TEST(Text, SpacesAreTrimmed) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n "), "");
  EXPECT_EQ(Trim("\na ", " "), "\na");
  EXPECT_EQ(TrimLeft("  a "), "a ");
}

TEST(Text, PartsOfATextAreTaken) {
  std::string_view rest = "a,,b";
  EXPECT_EQ(TakeUntil(&rest, ','), "a");
  EXPECT_EQ(TakeUntil(&rest, ','), "");
  EXPECT_EQ(TakeUntil(&rest, ','), "b");
  EXPECT_EQ(rest, "");
  EXPECT_EQ(PiecesOf("a,,", ','), (std::vector<std::string_view>{"a", "", ""}));
  EXPECT_EQ(PiecesOf("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(WordsOf(",a,,b,", ","), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(WordsOf(" \n").empty());
}

TEST(Text, WordsAreJoined) {
  EXPECT_EQ(Join({"a", "", "b"}), "a  b");
  EXPECT_EQ(Join({"", "a"}, ", "), "a");
  EXPECT_EQ(Join({}), "");
}

TEST(Text, LowerCaseChangesASCIILettersOnly) { EXPECT_EQ(LowerCase("AZ[\xc3\x89"), "az[\xc3\x89"); }

TEST(Text, NearestFindsTypingErrorsOnly) {
  const std::vector<std::string> commands = {"run", "top", "traces", "ps"};
  EXPECT_EQ(Nearest("tpo", commands), "");  // two edits in three letters is a guess
  EXPECT_EQ(Nearest("topp", commands), "top");
  EXPECT_EQ(Nearest("trace", commands), "traces");
  EXPECT_EQ(Nearest("xylophone", commands), "");
}

}  // namespace
}  // namespace heapgauge
