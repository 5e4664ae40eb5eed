// Reports over profiles that no gauge file was read for: two types, times, counts, differences.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/fold/functions.h"
#include "core/model/testing/profile_maker.h"
#include "core/report/views/top.h"
#include "core/report/views/traces.h"
#include "core/report/views/tree.h"

namespace heapgauge {
namespace {

using testing::Maker;

// `values` of three stacks for each of the types.
Profile Foreign(std::vector<SampleType> types, std::vector<int64_t> values) {
  Maker m;
  const auto main = m.Function("main");
  m.Row({m.Function("hot", 7), main}, 1);
  m.Row({m.Function("malloc"), m.Function("cold"), main}, 1);
  m.Row({m.Function("third"), main}, 1);
  Profile p = m.profile();
  p.sample_types = std::move(types);
  p.values = std::move(values);
  for (Row& row : p.rows) row.samples = row.live_samples = 0;
  Module module;
  module.path = "/usr/bin/thing";
  p.modules.push_back(module);
  return p;
}

std::string Top(const Profile& p, const TopOptions& options = {}) {
  const auto report = AggregateFunctions(p, {});
  return TopText(p, *report, {}, options).text();
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// 300 blocks of 0 bytes by "hot", one of 1 byte by "cold".
Profile WithEmptyBlocks() {
  return Foreign(HeapSampleTypes(), {300, 0, 300, 0, 1, 1, 1, 1, 0, 0, 0, 0});
}

TEST(AnyProfile, BlocksOfNoBytesHaveTheirRow) {
  const Profile p = WithEmptyBlocks();
  const std::string text = Top(p);
  EXPECT_TRUE(Has(text, "0 B      -                  300       0 B  hot")) << text;
  TopOptions options;
  FunctionOptions functions;
  options.sort = functions.sort = SortKey::kCount;
  const auto report = AggregateFunctions(p, functions);
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(report->rows[0].flat.live_objects, 300);
  EXPECT_EQ(p.frames[report->rows[0].frame].line, 7u);
  EXPECT_TRUE(Has(TopText(p, *report, {}, options).text(), "0 B  99.7%"));
  const auto json = nlohmann::json::parse(TopJson(p, *report, {}, options));
  EXPECT_EQ(json["function_count"], 2);
}

TEST(AnyProfile, BlocksOfNoBytesAreInTheTree) {
  const Profile p = WithEmptyBlocks();
  TreeOptions options;
  std::string text = TreeText(p, {}, options)->text();
  EXPECT_TRUE(Has(text, "0 B   0.0%       300  \u2514\u2500 \u2026 1 more branch")) << text;
  options.fold = 0;
  for (const bool callers : {false, true}) {
    options.callers = callers;
    text = TreeText(p, {}, options)->text();
    EXPECT_TRUE(Has(text, "0 B   0.0%       300  \u2514\u2500 hot")) << text;
    EXPECT_EQ(Has(text, "0 B   0.0%       300     main"), callers) << text;
  }
  options.callers = false;
  options.sort = SortKey::kCount;
  text = TreeText(p, {}, options)->text();
  EXPECT_TRUE(Has(text, "0 B  99.7%       300  \u251c\u2500 hot")) << text;
}

TEST(AnyProfile, TimesAreShownAsTimesUnderTheirOwnName) {
  Profile p = Foreign({{"samples", "count"}, {"cpu", "nanoseconds"}},
                      {200, 2'000'000'000, 5, 50'000'000, 1, 10'000'000});
  p.period = 10'000'000;
  p.period_type = {"cpu", "nanoseconds"};
  p.time_ns = 1'600'000'000'000'000'000;
  p.comments = {"a comment"};
  const std::string text = Top(p);
  for (const char* part : {"thing  taken 2020-09-13 12:26:40 UTC", "total      2.06s",
                           "cpu in nanoseconds; --type: samples", "period     10ms cpu",
                           "comment    a comment", " cpu  share", "2s  97.1%", "malloc"}) {
    EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
  }
  for (const char* part : {"live", "objects", "allocated", "95 %", "pid", "agent"}) {
    EXPECT_FALSE(Has(text, part)) << part << "\n" << text;
  }
}

TEST(AnyProfile, TwoTypesAreLiveMemoryWithoutWhatWasEverAllocated) {
  const Profile p =
      Foreign({{"objects", "count"}, {"space", "bytes"}}, {3, 3 << 20, 2, 2 << 20, 0, 0});
  const std::string text = Top(p);
  EXPECT_TRUE(Has(text, "live       5.0 MB, 5 objects")) << text;
  EXPECT_TRUE(Has(text, "cold")) << "allocating frames are left out\n" << text;
  EXPECT_FALSE(Has(text, "malloc")) << text;
  EXPECT_FALSE(Has(text, "allocated")) << text;
  EXPECT_FALSE(Has(text, "third")) << "zero in every type\n" << text;
}

TEST(AnyProfile, SharesStandBehindTheFigureThatTheyAreOf) {
  Profile p = Foreign({{"alloc_objects", "count"},
                       {"alloc_space", "bytes"},
                       {"inuse_objects", "count"},
                       {"inuse_space", "bytes"}},
                      {9, 9000, 0, 0, 2, 1000, 2, 1000, 0, 0, 0, 0});
  p.default_type = 1;
  FunctionOptions by_allocated;
  by_allocated.sort = SortKey::kAllocated;
  TopOptions options;
  options.sort = SortKey::kAllocated;
  const auto report = AggregateFunctions(p, by_allocated);
  const std::string text = TopText(p, *report, {}, options).text();
  EXPECT_TRUE(Has(text, "type       alloc_space in bytes; --type: alloc_objects")) << text;
  EXPECT_TRUE(Has(text, " allocated  share")) << text;
  EXPECT_TRUE(Has(text, "    8.8 kB  90.0%")) << text;
}

TEST(AnyProfile, AFigureIsThereWhetherAnythingIsLiveOrNot) {
  Profile p =
      Foreign({{"freed_objects", "count"}, {"freed_space", "bytes"}}, {9, 9216, 2, 1024, 0, 0});
  for (Row& row : p.rows) row.samples = 3;  // of which nothing is live
  const std::string text = Top(p);
  EXPECT_TRUE(Has(text, "   9.0 kB")) << text;
  const auto tree = TreeText(p, {}, {});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(Has(tree->text(), "   9.0 kB")) << tree->text();
}

TEST(AnyProfile, DifferencesAreSortedBySizeWithTheirSign) {
  const Profile p = Foreign({{"space", "bytes"}}, {1000, -5000, 10});
  const std::string text = Top(p);
  EXPECT_TRUE(Has(text, "-4.9 kB")) << text;
  EXPECT_LT(text.find("-4.9 kB"), text.find("1000 B")) << text;
}

TEST(AnyProfile, TreeTracesAndJsonKnowTheUnit) {
  const Profile p = Foreign({{"samples", "count"}}, {7, 2, 1});
  const auto tree = TreeText(p, {}, {});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(Has(tree->text(), "samples")) << tree->text();
  EXPECT_FALSE(Has(tree->text(), " B ")) << tree->text();
  StringSink traces;
  ASSERT_TRUE(WriteTraces(p, {}, {}, {}, &traces));
  EXPECT_TRUE(Has(traces.text(), "7 samples, 70.0%\n")) << traces.text();
  const auto report = AggregateFunctions(p, {});
  const auto json = nlohmann::json::parse(TopJson(p, *report, {}, {}));
  EXPECT_EQ(json["profile"]["unit"], "count");
  EXPECT_EQ(json["functions"][0]["flat"]["value"]["value"], 7);
  EXPECT_FALSE(json["functions"][0]["flat"].contains("live_bytes"));
}

TEST(AnyProfile, CsvHasAColumnForEachFigureThatIsKnown) {
  const Profile p = Foreign({{"samples", "count"}}, {7, 2, 1});
  const auto report = AggregateFunctions(p, {});
  const std::string csv = TopCsv(p, *report, {});
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "samples,samples_low,samples_high,cum_samples,cum_samples_low,cum_samples_high,"
            "function,file,line,module");
  EXPECT_TRUE(Has(csv, "\n7,7,7,7,7,7,hot,x.cc,7,\n")) << csv;
  StringSink traces;
  ASSERT_TRUE(WriteTracesCsv(p, {}, &traces));
  EXPECT_TRUE(Has(traces.text(), "7,7,7,main x.cc:1;hot x.cc:7\n")) << traces.text();
  const auto tree = TreeCsv(p, {});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(Has(*tree, "node,parent,depth,samples")) << *tree;
}

TEST(AnyProfile, EveryLineFitsTheTerminal) {
  Profile p = Foreign({{"samples", "count"}, {"a_type_with_quite_a_long_name", "widgets"}},
                      {7, 7, 2, 2, 1, 1});
  p.comments = {std::string(300, 'c')};
  for (Function& function : p.functions) function.name += std::string(200, 'f');
  for (const size_t width : {60u, 80u, 120u, 200u}) {
    TopOptions options;
    options.layout.width = width;
    const auto report = AggregateFunctions(p, {});
    for (const StyledText& line : TopText(p, *report, {}, options).Lines()) {
      EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
    }
  }
}

TEST(AnyProfile, AProfileWithoutTypesIsNoCrash) {
  const Profile p = Foreign({}, {});
  EXPECT_TRUE(Has(Top(p), "No samples")) << Top(p);
}

}  // namespace
}  // namespace heapgauge
