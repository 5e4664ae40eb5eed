// Our text functions against SQLite's own.
#include "core/query/sql_functions.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "core/query/testing/ask.h"
#include "core/query/testing/sampled_profile.h"

namespace heapgauge::query {
namespace {

using testing::Asker;
using testing::SampledProfile;

// What SQLite alone says.
std::string Original(const std::string& expression) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  std::string result = "no row";
  const auto take = [](void* to, int, char** values, char**) {
    *static_cast<std::string*>(to) = values[0] == nullptr ? "NULL" : values[0];
    return 0;
  };
  const int code = sqlite3_exec(db, ("SELECT " + expression).c_str(), take, &result, nullptr);
  EXPECT_EQ(code, SQLITE_OK) << expression;
  sqlite3_close(db);
  return result;
}

TEST(TextFunctions, AnswerAsSqlitesOwn) {
  std::mt19937 random(3);
  constexpr const char* kPieces[] = {"a", "b", "ab", "aa", " ", "\u00e4", "\u20ac", "\U0001f600"};
  const auto text = [&](size_t most) {
    std::string made = "'";
    for (size_t i = random() % (most + 1); i-- > 0;) made += kPieces[random() % 8];
    return made + "'";
  };
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  for (int round = 0; round < 1500; ++round) {
    const std::string one = text(8), two = text(2), three = text(2);
    for (const std::string& expression :
         {"instr(" + one + "," + two + ")", "replace(" + one + "," + two + "," + three + ")",
          "trim(" + one + "," + two + ")", "ltrim(" + one + "," + two + ")",
          "rtrim(" + one + "," + two + ")", "trim(" + one + ")", "ltrim(" + one + ")",
          "rtrim(" + one + ")"}) {
      ASSERT_EQ(asker.One("SELECT " + expression + " || '.'"), Original(expression + " || '.'"))
          << expression;
    }
  }
  for (const char* expression :
       {"instr(NULL,'a')", "instr('a',NULL)", "instr(x'010203',x'03')", "instr(12345,34)",
        "instr(x'c3a461','a')", "replace('abc',NULL,'x')", "replace(121,1,3)", "trim(NULL)",
        "trim('a',NULL)", "instr('','')", "instr('a','')", "instr('','a')",
        "replace('','a','b')"}) {
    EXPECT_EQ(asker.One(std::string("SELECT ") + expression), Original(expression)) << expression;
  }
}

TEST(TextFunctions, TakeNoMoreTimeThanTheirArgumentsAreLong) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  // Each would be 10^12 steps the other way.
  EXPECT_EQ(asker.One("SELECT instr(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')"), "0");
  EXPECT_EQ(asker.One("SELECT length(replace(hex(zeroblob(1000000)), "
                      "hex(zeroblob(500000)) || '1', ''))"),
            "2000000");
  EXPECT_NE(asker.One("SELECT trim(hex(zeroblob(1000000)), hex(zeroblob(500000)) || '1')")
                .find("1000 bytes"),
            std::string::npos);
  EXPECT_NE(asker.One("SELECT replace(hex(zeroblob(1000000)), '0', '0000000000')").find("big"),
            std::string::npos);
}

}  // namespace
}  // namespace heapgauge::query
