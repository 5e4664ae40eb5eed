// heapgauge query from outside: forms of output, where statements come from, what is refused, and
// the statements of docs/query.md on a gauge file.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/testing/eventually.h"
#include "core/query/testing/example_trace.h"
#include "core/query/testing/query_page.h"
#include "tests/cli/command.h"

namespace heapgauge::testing {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class QueryCommand : public ::testing::Test {
 protected:
  QueryCommand() : gauge_(dir_ / "server.1.hg"), trace_(dir_ / "server.hgt") {
    EXPECT_EQ(Command({HEAPGAUGE_MAKE_GAUGE, gauge_}).Wait().code, 0);
    EXPECT_TRUE(query::testing::ExampleTrace().Write(trace_));
  }

  // Of a statement that works.
  std::string Out(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::vector<std::string> all = {"query"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = Heapgauge(all, {}, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }
  // Of one that does not: one line.
  std::string Err(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"query"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = Heapgauge(all);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  }

  ScratchDir dir_;
  std::string gauge_;
  std::string trace_;
};

TEST_F(QueryCommand, AnswersOnTracesAndProfiles) {
  EXPECT_EQ(Out({"SELECT value FROM facts WHERE name = 'program'", trace_}), "value\n/srv/shop\n");
  EXPECT_TRUE(
      Contains(Out({"SELECT function FROM stacks ORDER BY live_bytes DESC LIMIT 1", gauge_}),
               "shop::Cart::AddItem"));
  const std::string proto = dir_ / "heap.pb.gz";
  ASSERT_EQ(Heapgauge({"proto", "-o", proto, gauge_}).code, 0);
  EXPECT_TRUE(Contains(Out({"SELECT DISTINCT type FROM figures", proto}), "inuse_space"));
  EXPECT_TRUE(Contains(Err({"SELECT * FROM allocations", proto}), "no single blocks"));
  // Nor have traces that were added up.
  EXPECT_TRUE(Contains(Err({"SELECT * FROM allocations", trace_, trace_}), "asked by itself"));
}

TEST_F(QueryCommand, SeveralStatementsAreOneDocumentOfJson) {
  const auto json = [&](const std::string& sql) {
    return nlohmann::json::parse(Out({"--json", sql, trace_}));
  };
  EXPECT_EQ(json("SELECT 1 AS a; SELECT 2 AS b WHERE 0; SELECT 3 AS c"),
            nlohmann::json::parse(R"([[{"a":1}],[],[{"c":3}]])"));
  EXPECT_EQ(json("SELECT 1 AS a; ; -- SELECT 2;\n"), nlohmann::json::parse(R"([{"a":1}])"));
  // What came before an error is whole.
  const Outcome failed = Heapgauge({"query", "--json", "SELECT 1 AS a; SELECT nothing", trace_});
  EXPECT_EQ(failed.code, 2);
  EXPECT_EQ(nlohmann::json::parse(failed.out), nlohmann::json::parse(R"([[{"a":1}]])"));
  EXPECT_EQ(Heapgauge({"query", "--json", "SELECT nothing; SELECT 1", trace_}).out, "");
}

// What a terminal would take for a command is not shown to it.
TEST_F(QueryCommand, CsvOnATerminalIsPrintable) {
  const std::string script = "/usr/bin/script";
  if (access(script.c_str(), X_OK) != 0) GTEST_SKIP() << "there is no script(1)";
  const std::string query =
      std::string(HEAPGAUGE_PROGRAM) +
      " query --csv --no-header \"SELECT 'a' || char(10) || char(27) || '[1m'\" " + trace_;
  const Outcome outcome = Command({script, "-qec", query, "/dev/null"}).Wait();
  EXPECT_TRUE(Contains(outcome.out, "\"a\r\n?[1m\"\r\n")) << outcome.out;
}

TEST_F(QueryCommand, WritesTablesCsvAndJson) {
  const std::string sql = "SELECT thread, name, NULL AS missing FROM threads";
  EXPECT_EQ(Out({sql, trace_}),
            "thread  name    missing\n     0  main          -\n     1  worker        -\n");
  EXPECT_EQ(Out({"--csv", sql, trace_}), "thread,name,missing\n0,main,\n1,worker,\n");
  EXPECT_EQ(Out({"--csv", "--no-header", sql, trace_}), "0,main,\n1,worker,\n");
  const auto json = nlohmann::json::parse(Out({"--json", sql, trace_}));
  EXPECT_EQ(json[1], nlohmann::json::parse(R"({"thread":1,"name":"worker","missing":null})"));
  const std::string file = dir_ / "out.csv";
  EXPECT_EQ(Out({"--csv", "-o", file, sql, trace_}), "");
  EXPECT_EQ(std::filesystem::file_size(file), 38u);
  EXPECT_EQ(Out({"--csv", "SELECT 'a' || char(10) || '\"b' AS x, char(27) AS y", trace_}),
            "x,y\n\"a\n\"\"b\",\033\n");
  const Outcome cut = Heapgauge({"query", "--limit", "1", "--csv", sql, trace_});
  EXPECT_EQ(cut.out, "thread,name,missing\n0,main,\n");
  EXPECT_TRUE(Contains(cut.err, "--limit 0")) << cut.err;
}

TEST_F(QueryCommand, TakesStatementsFromFilesAndInput) {
  const std::string file = dir_ / "q.sql";
  std::ofstream(file) << "-- two\nSELECT 1 AS a;\nSELECT 2 AS b;\n";
  EXPECT_EQ(Out({"--file", file, trace_}), "a\n1\n\nb\n2\n");
  EXPECT_EQ(Out({"--file", "-", trace_}, "SELECT 3 AS c"), "c\n3\n");
  EXPECT_TRUE(Contains(Out({trace_}, "SELECT 4\n  AS d;\nquit\n"), "d\n4\n")) << "a prompt";
  EXPECT_TRUE(Contains(Out({"--schema"}), "allocations: "));
  EXPECT_TRUE(Contains(Out({"--schema", gauge_}), "stack_contains(RE)"));
}

TEST_F(QueryCommand, ShowsNothingButResultsToAPipe) {
  EXPECT_EQ(Out({trace_}, "SELECT 1 AS one;\nSELECT 2 AS two;\n"), "one\n  1\ntwo\n  2\n");
}

TEST_F(QueryCommand, CallsColumnsAsTheyWereWritten) {
  EXPECT_EQ(Out({"--csv",
                 "SELECT lifespan IS NULL AS lifespan, a.live_at(0), live_at(0) + 0, size > 0 "
                 "FROM allocations a LIMIT 0",
                 trace_}),
            "lifespan,a.live_at(0),live_at(0) + 0,size > 0\n");
}

TEST_F(QueryCommand, RefusesWhatItShould) {
  EXPECT_TRUE(Contains(Err({"SELECT 1"}), "SOURCE is needed"));
  EXPECT_TRUE(Contains(Err({}), "statement is needed"));
  EXPECT_TRUE(Contains(Err({"--file", dir_ / "no.sql", trace_}), "no.sql"));
  EXPECT_TRUE(Contains(Err({"SELECT 1", dir_ / "no.hgt"}), "no.hgt"));
  EXPECT_TRUE(Contains(Err({"SELECT nowhere FROM stacks", trace_}), "line 1, column 8"));
  const std::string made = dir_ / "made.db";
  EXPECT_TRUE(Contains(Err({"ATTACH '" + made + "' AS x", trace_}), "ATTACH is refused"));
  EXPECT_TRUE(Contains(Err({"VACUUM INTO '" + made + "'", trace_}), "refused"));
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_TRUE(Contains(Err({"--memory", "much", "SELECT 1", trace_}), "--memory"));
  EXPECT_TRUE(Contains(Err({"--csv", "--json", "SELECT 1", trace_}), "--csv"));
}

TEST_F(QueryCommand, MeansThePeakThatReportsMean) {
  trace::testing::MakeTrace made;
  const uint32_t f = made.Stack({"f", "main"});
  made.Free(10, made.Allocate(10, 0, 5000, f));
  made.Allocate(20, 0, 1, f);
  const std::string path = dir_ / "ticks.hgt";
  ASSERT_TRUE(made.Write(path));
  const std::string top = Heapgauge({"top", "--at", "peak", "--csv", path}).out;
  EXPECT_TRUE(Contains(top, "5000")) << top;
  EXPECT_EQ(Out({"--csv", "--no-header", "SELECT sum(live_bytes) FROM snapshots('peak')", path}),
            "5000\n");
  EXPECT_EQ(Out({"--csv", "--no-header", "SELECT sum(size) FROM allocations WHERE live_at('peak')",
                 path}),
            "5000\n");
}

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

TEST_F(QueryCommand, EndsInTime) {
  EXPECT_TRUE(Contains(
      Err({"--timeout", "0.1", "--limit", "0", std::string(kEndless) + " WHERE i < 0", trace_}),
      "took more than 0.1 s"));
}

TEST_F(QueryCommand, IsInterrupted) {
  Command command(HeapgaugeCommand({"query", "--csv", kEndless, trace_}));
  EXPECT_TRUE(Eventually("the command prints", [&] { return !command.OutSoFar().empty(); }));
  kill(command.pid(), SIGINT);
  const Outcome outcome = command.Wait();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "heapgauge: the query was interrupted\n");
}

TEST_F(QueryCommand, AnswersThePageForGaugeFiles) {
  int any = 0;
  for (const auto& one :
       query::testing::QueriesOf(query::testing::ReadPage(HEAPGAUGE_QUERY_PAGE))) {
    if (!one.any_source()) continue;
    ++any;
    EXPECT_NE(Out({one.sql, gauge_}), "") << one.title;
  }
  EXPECT_GE(any, 4);
}

}  // namespace
}  // namespace heapgauge::testing
