// web/src/model/number_texts.json has numbers with their texts. The page writes numbers by
// functions of its own; its tests check the same table (web/src/model/format_test.ts).

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

TEST(NumberTexts, AreThoseOfThePage) {
  std::ifstream file(HEAPGAUGE_NUMBER_TEXTS);
  const nlohmann::json all = nlohmann::json::parse(file, nullptr, false);
  ASSERT_TRUE(all.is_object());
  ASSERT_EQ(all.size(), 9u);
  const auto number = [](const nlohmann::json& row, size_t i) { return row[i].get<double>(); };
  for (const nlohmann::json& row : all["bytes"]) EXPECT_EQ(FormatBytes(number(row, 0)), row[1]);
  for (const nlohmann::json& row : all["byte_range"]) {
    EXPECT_EQ(FormatByteRange(number(row, 0), number(row, 1)), row[2]);
  }
  for (const nlohmann::json& row : all["plus_minus"]) {
    EXPECT_EQ(FormatPlusMinus(number(row, 0), number(row, 1), number(row, 2)), row[3]);
  }
  for (const nlohmann::json& row : all["count"]) EXPECT_EQ(FormatCount(number(row, 0)), row[1]);
  for (const nlohmann::json& row : all["share"]) {
    EXPECT_EQ(FormatShare(number(row, 0), number(row, 1)), row[2]);
  }
  for (const nlohmann::json& row : all["duration"]) {
    EXPECT_EQ(FormatDuration(row[0].get<uint64_t>()), row[1]);
  }
  for (const nlohmann::json& row : all["value"]) {
    EXPECT_EQ(FormatValue(number(row, 0), row[1].get<std::string>()), row[2]);
  }
  for (const nlohmann::json& row : all["change"]) {
    EXPECT_EQ(FormatChange(number(row, 0), row[1].get<std::string>()), row[2]);
  }
  for (const nlohmann::json& row : all["value_range"]) {
    EXPECT_EQ(FormatValueRange(number(row, 0), number(row, 1), row[2].get<std::string>()), row[3]);
  }
}

}  // namespace
}  // namespace heapgauge
