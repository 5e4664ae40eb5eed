#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace heapgauge {
namespace {

using Library = nlohmann::ordered_json;

std::string AsLibrary(const Library& json) {
  return json.dump(-1, ' ', false, Library::error_handler_t::replace);
}

TEST(Json, MembersKeepTheirOrderAndHaveOneValueEach) {
  Json json = {{"z", 1}, {"a", {{"deep", true}, {"text", "t"}}}};
  json["m"] = nullptr;
  json["z"] = 2u;
  EXPECT_EQ(json.Line(), R"({"z":2,"a":{"deep":true,"text":"t"},"m":null})");
  json.Remove("a");
  json.Merge({{"m", 7}, {"n", -8}});
  EXPECT_EQ(json.Line(), R"({"z":2,"m":7,"n":-8})");
}

TEST(Json, ListsAndEmptyOnesAreWrittenOnManyLines) {
  Json list = Json::Array();
  EXPECT_TRUE(list.empty());
  list.Add({{"a", std::vector<uint32_t>{1, 2}}});
  list.Add(Json::Array());
  list.Add(Json::Object());
  EXPECT_FALSE(list.empty());
  const Library same = {{{"a", {1, 2}}}, Library::array(), Library::object()};
  EXPECT_EQ(list.Text(), same.dump(2) + "\n");
  EXPECT_EQ(list.Line(), same.dump());
}

TEST(Json, NumbersReadBackAsTheyWere) {
  const double some[] = {0,
                         -0.0,
                         1,
                         -1.5,
                         0.1,
                         1e-4,
                         9.99e-5,
                         1e15,
                         1e14,
                         1e16,
                         1e20,
                         1e300,
                         5e-324,
                         123456789012345,
                         999999999999999.9};
  for (const double value : some) EXPECT_EQ(Json(value).Line(), AsLibrary(value)) << value;
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(Library::parse(Json(value).Line()).get<double>(), value);
  }
  EXPECT_EQ(Json(std::nan("")).Line(), "null");
  EXPECT_EQ(Json(HUGE_VAL).Line(), "null");
  EXPECT_EQ(Json(std::numeric_limits<uint64_t>::max()).Line(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<int64_t>::min()).Line(), "-9223372036854775808");
}

TEST(Json, AnyBytesBecomeTextThatIsValid) {
  const std::string some[] = {"\"\\/\b\t\n\f\r\x01\x1f\x7f",
                              std::string("a\0b", 3),
                              "\u00e4\u20ac\U0001f600",
                              "\xff",
                              "\xc3",
                              "\xc3(",
                              "\xe2\x82",
                              "\xe2\x82x",
                              "\xed\xa0\x80",
                              "\xf0\x9f\x98",
                              "\xf4\x90\x80\x80",
                              "\xc0\x80"};
  for (const std::string& text : some) EXPECT_EQ(Json(text).Line(), AsLibrary(text));
  std::mt19937 random(7);
  const std::string pieces = "a\"\\\x01\x80\xbf\xc3\xa4\xe2\xed\xf0\xf4\x90\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (unsigned n = random() % 8; n > 0; --n) text += pieces[random() % pieces.size()];
    ASSERT_EQ(Json(text).Line(), AsLibrary(text));
  }
}

}  // namespace
}  // namespace heapgauge
