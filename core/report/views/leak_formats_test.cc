// Leaks in the formats that other programs read.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/report/testing/leaks_report.h"

namespace heapgauge::testing {
namespace {

TEST_F(LeaksReport, WritesJsonWithAllRecords) {
  Plant();
  const nlohmann::json json = JsonOf();
  EXPECT_EQ(json["format"], "heapgauge-leaks");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["check"]["pid"], 4242);
  EXPECT_EQ(json["check"]["look"], "copy");
  EXPECT_EQ(json["summary"]["definite"]["bytes"], 1048);
  EXPECT_EQ(json["summary"]["indirect"]["blocks"], 1);
  EXPECT_EQ(json["summary"]["heuristics"]["newarray"]["bytes"], 5000);
  EXPECT_EQ(json["summary"]["errors"], 2);
  ASSERT_EQ(json["records"].size(), 4u);
  const nlohmann::json& record = json["records"][1];
  EXPECT_EQ(record["kind"], "definite");
  EXPECT_EQ(record["bytes"], 1048);
  EXPECT_EQ(record["blocks"], 2);
  EXPECT_EQ(record["indirect_bytes"], 240);
  EXPECT_EQ(record["oldest_age_ns"], 7200 * leaks::testing::CheckMaker::kSecond);
  EXPECT_FALSE(record.contains("bytes_low"));
  const nlohmann::json& frame = record["stack"][1];
  EXPECT_EQ(frame["function"], "List::Push(int)");
  EXPECT_EQ(frame["file"], "/src/server.cc");
  EXPECT_EQ(frame["line"], 11);
  EXPECT_EQ(frame["module"], "/opt/app/bin/server");
  EXPECT_EQ(frame["address"], 0x1010);
}

TEST_F(LeaksReport, WritesRangesOfSampledFigures) {
  PlantSamples();
  const nlohmann::json record = JsonOf()["records"][0];
  EXPECT_EQ(record["sampled_blocks"], 37);
  EXPECT_EQ(record["sampled_blocks_of_stack"], 40);
  EXPECT_LT(record["bytes_low"], record["bytes"]);
  EXPECT_LT(record["bytes"], record["bytes_high"]);
}

TEST_F(LeaksReport, ComparesWithItsOwnJson) {
  Plant();
  StringSink before;
  ASSERT_TRUE(WriteLeaksJson(Subject(), options_, &before));
  const auto earlier = leaks::ParseEarlierCheck(before.text(), "old.json");
  ASSERT_TRUE(earlier) << earlier.error().message;
  maker_.Block(list_, 52, Kind::kDefinite);
  maker_.Block(maker_.Stack({"Fresh()", "main"}), 9, Kind::kDefinite);
  const LeaksSubject& subject = Subject();
  const leaks::Changes changes = leaks::CompareChecks(*subject.check, losses_, *earlier);
  subject_.changes = &changes;
  options_.filter = LeakFilter::kIncreased;
  const std::string text = LeaksText(subject_, options_).text();
  EXPECT_TRUE(Contains(text,
                       "1,340 (+52) (1,100 (+52) direct, 240 indirect) bytes in 3 (+1) blocks are "
                       "definitely lost in loss record 4 of 5\n"))
      << text;
  EXPECT_TRUE(Contains(text,
                       "9 (+9) bytes in 1 (+1) blocks are definitely lost in loss record 1 "
                       "of 5 new\n"))
      << text;
  EXPECT_TRUE(Contains(text, "1 record is as before")) << text;
  EXPECT_TRUE(Contains(text, "definitely lost: 1,109 (+61) bytes in 4 (+2) blocks")) << text;
  EXPECT_EQ(CountLeakErrors(subject_, options_).records, 2u);
  options_.filter = LeakFilter::kNew;
  EXPECT_EQ(CountLeakErrors(subject_, options_).records, 1u);
  EXPECT_EQ(LeakVerdict(subject_, LeakFilter::kNew),
            "server leaks: 1.3 kB in 5 blocks are lost, at 2 places of which one is new since the "
            "earlier check, the last 3.0s ago.");
}

// What SARIF 2.1.0 requires of what is written here.
TEST_F(LeaksReport, WritesSarif) {
  Plant();
  leaks::Suppressions suppressions;
  ASSERT_TRUE(suppressions.AddText("{\n known\n Memcheck:Leak\n ...\n fun:Cache::*\n}\n", "s"));
  subject_.suppressions = &suppressions;
  const nlohmann::json sarif = nlohmann::json::parse(LeaksSarif(Subject(), options_));
  EXPECT_EQ(sarif["version"], "2.1.0");
  ASSERT_EQ(sarif["runs"].size(), 1u);
  const nlohmann::json& run = sarif["runs"][0];
  const nlohmann::json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "heapgauge");
  EXPECT_EQ(driver["version"], "1.2.3");
  EXPECT_TRUE(run["invocations"][0]["executionSuccessful"].is_boolean());
  ASSERT_EQ(run["results"].size(), 2u);
  for (const nlohmann::json& result : run["results"]) {
    EXPECT_TRUE(result["message"]["text"].is_string());
    const size_t rule = result["ruleIndex"];
    ASSERT_LT(rule, driver["rules"].size());
    EXPECT_EQ(driver["rules"][rule]["id"], result["ruleId"]);
    const std::string level = result["level"];
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note");
    for (const nlohmann::json& location : result["locations"]) {
      EXPECT_GE(location["physicalLocation"]["region"]["startLine"], 1);
    }
    for (const nlohmann::json& stack : result["stacks"]) {
      ASSERT_TRUE(stack["frames"].is_array());
      for (const nlohmann::json& frame : stack["frames"]) {
        EXPECT_TRUE(frame["location"].is_object());
      }
    }
  }
  const nlohmann::json& lost = run["results"][0];
  EXPECT_EQ(lost["ruleId"], "definite");
  EXPECT_EQ(lost["message"]["text"],
            "1,288 (1,048 direct, 240 indirect) bytes in 2 blocks are definitely lost, allocated "
            "in List::Push(int).");
  EXPECT_EQ(lost["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///src/server.cc");
  EXPECT_FALSE(lost.contains("suppressions"));
  EXPECT_EQ(run["results"][1]["suppressions"][0]["kind"], "external");
  EXPECT_EQ(run["results"][1]["suppressions"][0]["justification"], "known");
}

TEST_F(LeaksReport, WritesWhatKcachegrindReads) {
  Plant();
  StringSink sink;
  ASSERT_TRUE(WriteLeaksXtree(Subject(), &sink));
  EXPECT_TRUE(Contains(sink.text(), "events: RB PB IB DB DIB RBk PBk IBk DBk\n"));
  EXPECT_TRUE(Contains(sink.text(), R"(
fl=(1)
fn=(2)
12
cfi=(1)
cfn=(6) List::Push(int)
calls=0 11
12 0 0 0 1288 240 0 0 0 2
fl=(1)
fn=(6)
11
cfi=(1)
cfn=(4)
calls=0 10
11 0 0 0 1288 240 0 0 0 2
fl=(1)
fn=(4)
10 0 0 0 1288 240 0 0 0 2
)")) << sink.text();
  EXPECT_TRUE(Contains(sink.text(), "\ntotals: 5000 304 240 1288 240 1 1 1 2\n")) << sink.text();
}

}  // namespace
}  // namespace heapgauge::testing
