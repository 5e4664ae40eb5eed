// Statements from anybody: what is refused, that all of them end, and how mistakes are told.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <iterator>
#include <random>
#include <thread>

#include "core/query/testing/ask.h"
#include "core/query/testing/sampled_profile.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::query {
namespace {

using testing::Asker;
using testing::SampledProfile;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;
using Lines = std::vector<std::string>;

TEST(Refused, IsAllThatDoesNotRead) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  for (const char* sql : {"CREATE TABLE x(a)",
                          "CREATE TEMP TABLE x(a)",
                          "CREATE VIEW v AS SELECT 1",
                          "CREATE TEMP TABLE x AS SELECT * FROM stacks",
                          "DROP TABLE stacks",
                          "DELETE FROM stacks",
                          "INSERT INTO stacks(stack) VALUES (1)",
                          "UPDATE stacks SET stack = 1",
                          "ATTACH '/tmp/heapgauge-query-must-not-write.db' AS d",
                          "DETACH main",
                          "PRAGMA temp_store = 1",
                          "PRAGMA table_info(stacks)",
                          "SELECT * FROM pragma_database_list",
                          "VACUUM",
                          "VACUUM INTO '/tmp/heapgauge-query-must-not-write.db'",
                          "BEGIN",
                          "COMMIT",
                          "SAVEPOINT s",
                          "ANALYZE",
                          "REINDEX",
                          "CREATE VIRTUAL TABLE t USING fts5(a)",
                          "SELECT load_extension('/tmp/x.so')",
                          "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END",
                          "ALTER TABLE stacks ADD COLUMN z"}) {
    const std::string answer = asker.One(sql);
    EXPECT_TRUE(answer.starts_with("error: ")) << sql << ": " << answer;
    EXPECT_EQ(answer.find('\n'), std::string::npos) << sql;
  }
  for (const char* sql : {"PRAGMA journal_mode", "ATTACH 'x' AS y", "CREATE TABLE x(a)",
                          "SELECT load_extension('x')"}) {
    EXPECT_NE(asker.One(sql).find("is refused: queries only read"), std::string::npos)
        << asker.One(sql);
  }
  EXPECT_EQ(asker.One("SELECT count(*) FROM sqlite_master"), "0");
  EXPECT_NE(access("/tmp/heapgauge-query-must-not-write.db", F_OK), 0);
}

TEST(Hostile, StatementsEnd) {
  QueryOptions options;
  options.seconds = 0.05;
  Asker asker(QuerySource::OfProfile(SampledProfile()), options);
  EXPECT_NE(asker
                .One("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                     "SELECT count(*) FROM n")
                .find("took more than 0.05 s"),
            std::string::npos);
  EXPECT_EQ(asker.One("SELECT 1"), "1") << "it goes on afterwards";
}

// Nor are there steps between rows that are found at once and shown slowly.
TEST(Hostile, RowsEndInTime) {
  QueryOptions options;
  options.seconds = 1e-9;
  Asker asker(QuerySource::OfProfile(SampledProfile()), options);
  EXPECT_NE(asker.One("SELECT zeroblob(1000)").find("took more than 1e-09 s"), std::string::npos);
}

TEST(Hostile, AnyLengthOfTimeIsUnderstood) {
  for (const double seconds : {1e10, 1e300, HUGE_VAL}) {
    QueryOptions options;
    options.seconds = seconds;
    Asker asker(QuerySource::OfProfile(SampledProfile()), options);
    EXPECT_EQ(asker.One("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                        "LIMIT 100000) SELECT count(*) FROM n"),
              "100000")
        << seconds;
  }
}

// Too few steps of SQLite's for it to ask.
TEST(Hostile, WhatIsReadAtOnceEndsInTime) {
  MakeTrace made;
  AddRandomEvents({}, &made);
  QueryOptions options;
  options.seconds = 1e-9;
  for (const char* sql :
       {"SELECT thread, count(*) FROM allocations GROUP BY thread",
        "SELECT count(*) FROM allocations WHERE number < 5",
        "SELECT number FROM allocations WHERE freed_ns IS NULL LIMIT 1",
        "SELECT stack FROM snapshots('peak') LIMIT 1", "SELECT live_bytes FROM stacks LIMIT 1"}) {
    Asker asker(QuerySource::OfTrace(made.Open(), {}), options);
    EXPECT_NE(asker.One(sql).find("took more than 1e-09 s"), std::string::npos) << sql;
  }
}

TEST(Hostile, StatementsAreInterrupted) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) asker.query().Interrupt();
  });
  EXPECT_EQ(asker.One("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                      "SELECT count(*) FROM n"),
            "error: the query was interrupted");
  done = true;
  other.join();
}

// Interrupts when survivors are about to be read.
class InterruptAtSurvivors final : public ProgressSink {
 public:
  void Report(std::string_view what, uint64_t, uint64_t, std::string_view) override {
    if (what.find("never freed") == std::string_view::npos) return;
    ++reports;
    query->Interrupt();
  }
  Query* query = nullptr;
  int reports = 0;
};

TEST(Hostile, ReadingSurvivorsIsInterrupted) {
  MakeTrace made;
  made.write_survivors = false;
  AddRandomEvents({}, &made);
  InterruptAtSurvivors progress;
  QueryOptions options;
  options.progress = &progress;
  Asker asker(QuerySource::OfTrace(made.Open(), {}), options);
  progress.query = &asker.query();
  EXPECT_EQ(asker.One("SELECT number FROM allocations WHERE freed_ns IS NULL LIMIT 1"),
            "error: the query was interrupted");
  EXPECT_EQ(progress.reports, 1);
}

TEST(Hostile, AnInterruptThatComesEarlyIsNotLost) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  asker.query().Interrupt();
  EXPECT_EQ(asker.One("SELECT 1"), "error: the query was interrupted");
  EXPECT_EQ(asker.One("SELECT 1"), "1") << "it is for one run";
  // Nor is it for whoever asks the same source later.
  asker.query().Interrupt();
  const auto other = Query::Open(&asker.source(), {});
  ASSERT_TRUE(other);
  testing::KeptRows kept;
  EXPECT_TRUE((*other)->Run("SELECT 1", &kept));
}

TEST(Hostile, MemoryIsBounded) {
  QueryOptions options;
  options.memory_bytes = 16 << 20;
  Asker asker(QuerySource::OfProfile(SampledProfile()), options);
  for (const char* sql :
       {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000) "
        "SELECT i FROM n ORDER BY random()",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) "
        "SELECT length(group_concat(hex(randomblob(1000)))) FROM n",
        "SELECT length(hex(zeroblob(30000000)))"}) {
    const std::string answer = asker.One(sql);
    EXPECT_TRUE(answer.find("needs more than 16.0 MB") != std::string::npos ||
                answer.find("too big") != std::string::npos)
        << answer;
  }
  EXPECT_EQ(asker.One("SELECT 1"), "1");
  sqlite3_hard_heap_limit64(0);
}

// Whatever is written, the answer is rows or one line.
TEST(Hostile, AnyWordsHaveAnAnswer) {
  MakeTrace made;
  RandomTrace how;
  how.events = 300;
  AddRandomEvents(how, &made);
  QueryOptions options;
  options.seconds = 2;
  Asker trace(QuerySource::OfTrace(made.Open(), {}), options);
  Asker profile(QuerySource::OfProfile(SampledProfile()), options);
  const char* words[] = {"SELECT",
                         "*",
                         "FROM",
                         "allocations",
                         "stacks",
                         "frames",
                         "snapshots",
                         "timeline",
                         "blocks",
                         "labels",
                         "WHERE",
                         "live_at",
                         "(",
                         ")",
                         "(",
                         ")",
                         ",",
                         "5",
                         "-1",
                         "1e300",
                         "'peak'",
                         "NULL",
                         "'x'",
                         "stack",
                         "born_ns",
                         "freed_ns",
                         "number",
                         "size",
                         "at",
                         "time_ns",
                         "=",
                         "<",
                         ">=",
                         "IS NULL",
                         "IN",
                         "AND",
                         "OR",
                         "NOT",
                         "GROUP BY",
                         "ORDER BY",
                         "LIMIT",
                         "JOIN",
                         "USING",
                         "count(*)",
                         "sum",
                         "lifespan",
                         "lifetime_ns",
                         "human",
                         "stack_contains",
                         "'('",
                         "moment",
                         "seconds",
                         "collapsed",
                         ";",
                         "9223372036854775807",
                         "-9223372036854775808",
                         "x'00'",
                         "''"};
  std::mt19937_64 random(11);
  int answered = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string sql = random() % 2 == 0 ? "SELECT * FROM allocations WHERE " : "SELECT ";
    for (uint64_t i = random() % 10; i-- > 0;) {
      sql += std::string(words[random() % std::size(words)]) + " ";
    }
    for (Asker* asker : {&trace, &profile}) {
      const Lines lines = asker->Ask(sql);
      if (lines.empty() || !lines[0].starts_with("error: ")) ++answered;
      if (!lines.empty()) {
        EXPECT_EQ(lines[0].find('\n'), std::string::npos) << sql;
      }
    }
  }
  EXPECT_GT(answered, 100) << "some of it is SQL";
  // Each column of each table with each odd value.
  for (const char* table : {"allocations", "stacks", "frames", "snapshots", "timeline", "threads",
                            "modules", "memory", "labels", "facts"}) {
    testing::KeptRows kept;
    ASSERT_TRUE(trace.query().Run(std::string("SELECT * FROM ") + table + " LIMIT 1", &kept));
    for (const std::string& column : kept.columns) {
      for (const char* value : {"-1", "9223372036854775807", "-9223372036854775808", "1e300",
                                "-1e300", "0.5", "NULL", "'x'", "''", "x'ff'", "'1'"}) {
        for (const char* op : {"=", "<", ">", "<=", ">=", "IS", "IS NOT", "<>"}) {
          // Copied first, so that SQLite alone compares.
          const std::string where = fmt::format(" WHERE {} {} {}", column, op, value);
          const std::string alone = fmt::format(
              "WITH t AS MATERIALIZED (SELECT * FROM {}) SELECT count(*) FROM t", table);
          EXPECT_EQ(trace.One(fmt::format("SELECT count(*) FROM {}", table) + where),
                    trace.One(alone + where))
              << table << where;
        }
      }
    }
  }
}

TEST(Mistakes, AreToldWithTheirPlace) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  EXPECT_EQ(asker.One("SELECT stack,\n  nowhere FROM stacks"),
            "error: no such column: nowhere (line 2, column 3 of the query)");
  EXPECT_EQ(asker.One("SELECT * FROM allocations WHERE live_at(5) AND wrong = 1"),
            "error: no such column: wrong (line 1, column 48 of the query)");
  EXPECT_EQ(asker.One("SELECT 1;\nSELEC 2"),
            "error: near \"SELEC\": syntax error (line 2, column 1 of the query)");
  EXPECT_NE(asker.One("SELECT * FROM stacks WHERE live_at(5)").find("rows of allocations"),
            std::string::npos);
  EXPECT_NE(asker.One("SELECT stack_contains(stack, '(') FROM stacks").find("missing closing )"),
            std::string::npos);
  EXPECT_NE(asker.One("SELECT 'a' REGEXP '['").find("error parsing regexp"), std::string::npos);
  EXPECT_NE(asker.One("SELECT * FROM allocations WHERE stack_contains('(')").find("error parsing"),
            std::string::npos);
  EXPECT_NE(asker.One("SELECT moment('noon')").find("noon"), std::string::npos);
  EXPECT_NE(asker.One("SELECT seconds('soon')").find("soon"), std::string::npos);
  EXPECT_NE(asker.One("").find("no statement"), std::string::npos);
  EXPECT_NE(asker.One(" -- nothing\n").find("no statement"), std::string::npos);
  EXPECT_NE(asker.One("SELECT \"no such thing\"").find("no such column"), std::string::npos);
}

TEST(Hostile, ADurationBeyondAllTimesEnds) {
  MakeTrace made;
  AddRandomEvents({}, &made);
  made.facts.recording.duration_ns = UINT64_MAX;
  Asker asker(QuerySource::OfTrace(made.Open(), {}));
  EXPECT_EQ(asker.One("SELECT count(*) > 99 AND count(*) < 103 FROM timeline"), "1");
  EXPECT_EQ(asker.One("SELECT count(*) FROM timeline WHERE time_ns > 9223372036854775806"), "0");
}

}  // namespace
}  // namespace heapgauge::query
