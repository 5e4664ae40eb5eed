#include "core/query/sql_text.h"

#include <gtest/gtest.h>

#include <random>

namespace heapgauge::query {
namespace {

std::string Complete(const std::string& sql) { return CompletedSql(sql).text(); }

TEST(SqlText, CompletesFunctionsOfTheRow) {
  EXPECT_EQ(Complete("WHERE live_at(5)"), "WHERE live_at(lifespan, 5)");
  EXPECT_EQ(Complete("WHERE Live_At (moment('peak'))"), "WHERE Live_At (lifespan, moment('peak'))");
  EXPECT_EQ(Complete("WHERE a.live_at(5)"), "WHERE live_at(a.lifespan, 5)");
  EXPECT_EQ(Complete("WHERE \"a b\" . stack_contains('x')"),
            "WHERE stack_contains(\"a b\".stack, 'x')");
  EXPECT_EQ(Complete("NOT stack_contains('a') OR stack_contains('b,c')"),
            "NOT stack_contains(stack, 'a') OR stack_contains(stack, 'b,c')");
  EXPECT_EQ(Complete("live_at(max(1, 2))"), "live_at(lifespan, max(1, 2))");
  EXPECT_EQ(Complete("live_at((SELECT min(born_ns) FROM allocations WHERE stack_contains('x')))"),
            "live_at(lifespan, (SELECT min(born_ns) FROM allocations WHERE "
            "stack_contains(stack, 'x')))");
}

TEST(SqlText, CountsStatements) {
  EXPECT_EQ(CountStatements(""), 0u);
  EXPECT_EQ(CountStatements(" ; -- SELECT 1;\n /* ; */ ;"), 0u);
  EXPECT_EQ(CountStatements("SELECT 1"), 1u);
  EXPECT_EQ(CountStatements("SELECT ';', \"a;\", [b;] -- ;\n FROM t;"), 1u);
  EXPECT_EQ(CountStatements(";SELECT 1;;SELECT 2"), 2u);
  EXPECT_EQ(CountStatements(std::string_view("SELECT 1\0; SELECT 2", 19)), 1u);
}

TEST(SqlText, LeavesTheRestAlone) {
  for (const char* sql :
       {"SELECT 'live_at(5)'", "SELECT \"live_at(5)\"", "-- live_at(5)\nSELECT 1",
        "/* live_at(5) */ SELECT 1", "live_at(lifespan, 5)", "stack_contains(s.stack, 'x')",
        "live_at()", "live_at", "my_live_at(5)", "'it''s live_at(5)'", "[live_at(5)]", "'open",
        "/* open", "", "live_at("}) {
    EXPECT_EQ(Complete(sql), sql);
  }
}

TEST(SqlText, KnowsWhereThingsWere) {
  const CompletedSql sql("a.live_at(5) AND x");
  EXPECT_EQ(sql.text(), "live_at(a.lifespan, 5) AND x");
  EXPECT_EQ(sql.OriginalOffset(sql.text().size() - 1), sql.original().size() - 1);
  EXPECT_EQ(sql.OriginalOffset(0), 2u);
  EXPECT_EQ(sql.OriginalOffset(sql.text().find('5')), sql.original().find('5'));
  EXPECT_EQ(PlaceInText("one\ntwo", 5), "line 2, column 2");
  EXPECT_EQ(PlaceInText("", 0), "line 1, column 1");
}

TEST(SqlText, KnowsWhatWasWritten) {
  const CompletedSql sql("SELECT x, a.live_at(5) , stack_contains('y') FROM t");
  const auto original = [&](const std::string& completed) {
    const size_t at = sql.text().find(completed);
    return std::string(sql.OriginalText(at, at + completed.size()));
  };
  EXPECT_EQ(original("live_at(a.lifespan, 5)"), "a.live_at(5)");
  EXPECT_EQ(original("stack_contains(stack, 'y')"), "stack_contains('y')");
  EXPECT_EQ(original("FROM t"), "FROM t");
  EXPECT_EQ(sql.OriginalText(0, sql.text().size()), sql.original());
  EXPECT_EQ(sql.OriginalText(3, 3), "");
}

TEST(SqlText, EndsForAnyBytes) {
  std::mt19937_64 random(3);
  const std::string letters = "live_at(). ,'\"`[]-*/\n;ax5stack_contains(";
  for (int round = 0; round < 2000; ++round) {
    std::string sql;
    for (uint64_t i = random() % 60; i-- > 0;) sql += letters[random() % letters.size()];
    const CompletedSql completed(sql);
    for (size_t i = 0; i <= completed.text().size(); ++i) {
      ASSERT_LE(completed.OriginalOffset(i), sql.size()) << sql;
      ASSERT_LE(completed.OriginalText(0, i).size(), sql.size()) << sql;
    }
  }
  const std::string deep(200'000, '(');
  EXPECT_EQ(Complete("live_at" + deep).size(), deep.size() + 7 + 10);
}

}  // namespace
}  // namespace heapgauge::query
