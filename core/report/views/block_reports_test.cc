// lifetimes and stats: text and JSON say what the analysis found.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/text.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/report/draw/heat_map.h"
#include "core/report/styled_text.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/stats.h"
#include "core/symbolize/symbolizer.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge {
namespace {

using trace::BlockGroups;
using trace::GroupBy;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;

// A trace, opened and grouped, with what reports start from.
struct Opened {
  explicit Opened(const MakeTrace& made, GroupBy by = GroupBy::kFunction)
      : trace(made.Open()), stacks(**trace->ReadStacks()) {
    stacks.profile.sample_types = HeapSampleTypes();
    Symbolize({}, &stacks.profile);
    groups = std::make_unique<BlockGroups>(stacks, by, trace->threads().size());
    subject.trace = trace.get();
    subject.stacks = &stacks;
    subject.groups = groups.get();
  }

  std::shared_ptr<const trace::TraceFile> trace;
  trace::TraceFile::Stacks stacks;
  std::unique_ptr<BlockGroups> groups;
  TraceSubject subject;
};

MakeTrace Random() {
  MakeTrace made;
  RandomTrace how;
  how.events = 4000;
  how.reallocated = 0.1;
  how.greatest_pause_ns = 2'000'000;
  AddRandomEvents(how, &made);
  made.NameThread(0, "main");
  return made;
}

// No line is wider than it may be, and there are no trailing blanks worth a line of their own.
void ExpectFits(const StyledText& text, size_t width) {
  for (const StyledText& line : text.Lines()) {
    EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
  }
}

TEST(HeatMap, FiguresTakeFourColumnsAtMost) {
  for (const bool is_bytes : {false, true}) {
    for (double value = 0; value < 1e19; value = value * 1.7 + 1) {
      EXPECT_LE(CompactFigure(value, is_bytes).size(), 4u) << value;
    }
  }
  EXPECT_EQ(CompactFigure(0, false), "");
  EXPECT_EQ(CompactFigure(999, false), "999");
  EXPECT_EQ(CompactFigure(1234, false), "1.2k");
  EXPECT_EQ(CompactFigure(2048, true), "2.0K");
  EXPECT_EQ(CompactFigure(1010, true), "1.0K");
  EXPECT_EQ(CompactFigure(12'345'678, false), "12M");
}

TEST(HeatMap, StandsSideBySideWhereThereIsRoom) {
  HeatMap map;
  map.title = "map";
  map.corner = "up to";
  map.columns = {"a", "b", "never"};
  map.keeps_last = true;
  map.rows = {"1", "2"};
  map.cells = {{5, 0, 0}, {0, 0, 1000}};
  const auto lines = [&](size_t width) {
    return HeatMapsText({map, map}, Layout{width, true}).Lines().size();
  };
  EXPECT_GT(lines(40), lines(80));
  ExpectFits(HeatMapsText({map, map}, Layout{80, true}), 80);
  const std::string text = HeatMapText(map, Layout{80, true}).text();
  EXPECT_NE(text.find("1.0k\u2588"), std::string::npos) << text;
  EXPECT_EQ(HeatMapsText({map}, Layout{80, true}).text().find(" b "), std::string::npos)
      << "empty columns at the end are left out";
}

TEST(HistogramText, ShowsWhatIsNotZero) {
  EXPECT_EQ(HistogramText({0, 1, 1000}, false), " .#");
  EXPECT_EQ(HistogramText({}, true), "");
  EXPECT_EQ(HistogramText({0, 0}, true), "  ");
}

// A bar of which a part is missing would be a wrong one.
TEST(TextTable, ShowsALastColumnThatMayBeLeftOutWholeOrNotAtAll) {
  TextTable table;
  table.Column("size").Column("bar", TextTable::Align::kLeft, 1);
  table.Row({"16", std::string(16, '#')});
  table.Row({"8", std::string(8, '#')});
  Layout layout;
  layout.width = 22;
  EXPECT_EQ(table.Text(layout).text(), "size  bar\n  16  ################\n   8  ########\n");
  layout.width = 21;
  EXPECT_EQ(table.Text(layout).text(), "size\n  16\n   8\n");
}

TEST(TextTable, DropsTheColumnsThatMatterLeast) {
  TextTable table;
  table.Column("a").Column("extra", TextTable::Align::kRight, 1);
  table.Column("more", TextTable::Align::kRight, 2).Column("name", TextTable::Align::kLeft);
  table.Row({"1", "2", "3", "a_rather_long_name_of_a_function"});
  const auto heading = [&](size_t width) {
    return table.Text(Layout{width, true}).Lines()[0].text();
  };
  EXPECT_EQ(heading(80), "a  extra  more  name");
  EXPECT_EQ(heading(32), "a  extra  name");
  EXPECT_EQ(heading(25), "a  name");
  for (const size_t width : {80, 32, 25}) ExpectFits(table.Text(Layout{width, true}), width);
}

TEST(TextTable, GivesStacksMoreRoomAndCutsTheirEnds) {
  TextTable table;
  table.Column("a").Column("figures_of_less_weight", TextTable::Align::kRight, 1);
  table.Column("stack", TextTable::Align::kLeft);
  table.LastIsAStack();
  table.Row({"1", "2", "innermost < its_caller < the_caller_of_that < main < _start"});
  const StyledText text = table.Text(Layout{50, true});
  ExpectFits(text, 50);
  EXPECT_EQ(text.text().find("figures"), std::string::npos);
  EXPECT_NE(text.text().find("1  innermost < its_caller < the_caller"), std::string::npos);
  ExpectFits(table.Text(Layout{10, false}), 14);  // too narrow, and still no harm
}

TEST(Lifetimes, TextFitsAnyWidthAndNamesFunctions) {
  const MakeTrace made = Random();
  for (const GroupBy by :
       {GroupBy::kFunction, GroupBy::kStack, GroupBy::kModule, GroupBy::kThread}) {
    const Opened opened(made, by);
    const auto report = trace::ReadLifetimes(*opened.trace, *opened.groups, {});
    ASSERT_TRUE(report);
    for (const size_t width : {80, 120, 160, 200}) {
      for (const bool utf8 : {true, false}) {
        LifetimeOptions options;
        options.layout = {width, utf8};
        const StyledText text = LifetimesText(opened.subject, *report, options);
        ExpectFits(text, width);
        const char* name = by == GroupBy::kThread   ? "1000 main"
                           : by == GroupBy::kModule ? "program"
                                                    : "leaf_";
        EXPECT_NE(text.text().find(name), std::string::npos) << text.text();
        EXPECT_NE(text.text().find("were never freed"), std::string::npos);
      }
    }
  }
}

TEST(Lifetimes, JsonAddsUp) {
  const Opened opened(Random(), GroupBy::kStack);
  trace::LifetimeRequest request;
  request.rows = 10'000;
  const auto report = trace::ReadLifetimes(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(report);
  const nlohmann::json j = nlohmann::json::parse(LifetimesJson(opened.subject, *report));
  const nlohmann::json& total = j["total"];
  EXPECT_EQ(total["blocks"], report->total.all.blocks);
  uint64_t by_size = 0, by_cell = 0, by_row = 0, by_step = 0;
  for (const nlohmann::json& size : j["sizes"]) {
    by_size += size["blocks"].get<uint64_t>();
    for (const nlohmann::json& cell : size["by_lifetime"])
      by_cell += cell["blocks"].get<uint64_t>();
  }
  for (const nlohmann::json& row : j["rows"]) {
    by_row += row["blocks"].get<uint64_t>();
    EXPECT_FALSE(row["frames"].empty());
    EXPECT_EQ(row["by_lifetime"].size(), j["lifetimes"].size());
  }
  for (const nlohmann::json& step : total["by_lifetime"]) by_step += step["blocks"].get<uint64_t>();
  for (const uint64_t sum : {by_size, by_cell, by_row, by_step}) EXPECT_EQ(sum, total["blocks"]);
  EXPECT_EQ(total["freed_blocks"].get<uint64_t>() + total["never_freed"]["blocks"].get<uint64_t>(),
            total["blocks"]);
  // The table has the same sum.
  std::istringstream csv(LifetimesCsv(opened.subject, *report));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "stack,function,file,line,module,lifetime,blocks,bytes");
  uint64_t by_line = 0;
  while (std::getline(csv, line)) {
    const size_t last = line.rfind(',');
    const size_t before = line.rfind(',', last - 1);
    by_line += std::stoull(line.substr(before + 1, last - before - 1));
  }
  EXPECT_EQ(by_line, total["blocks"]);
}

TEST(Lifetimes, SaysThatNothingIsThere) {
  Opened opened{MakeTrace()};
  const auto report = trace::ReadLifetimes(*opened.trace, *opened.groups, {});
  ASSERT_TRUE(report);
  EXPECT_NE(LifetimesText(opened.subject, *report, {}).text().find("Nothing was allocated."),
            std::string::npos);
  opened.subject.filter = "at least 1 MB";
  EXPECT_NE(LifetimesText(opened.subject, *report, {}).text().find("The filter leaves nothing."),
            std::string::npos);
}

TEST(Stats, HaveEverySectionWithinTheWidth) {
  const Opened opened(Random());
  const trace::StatsRequest request;
  const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(stats);
  for (const size_t width : {80, 120, 160}) {
    for (const bool utf8 : {true, false}) {
      StatsOptions options;
      options.layout = {width, utf8};
      const StyledText all = StatsText(opened.subject, *stats, request, options);
      ExpectFits(all, width);
      size_t length = 0;
      for (const std::string& section : StatsSections()) {
        options.sections = {section};
        const StyledText one = StatsText(opened.subject, *stats, request, options);
        EXPECT_LT(one.text().size(), all.text().size()) << section;
        const size_t heading = one.text().find("\n\n") + 1;
        EXPECT_NE(all.text().find(one.text().substr(heading)), std::string::npos) << section;
        length += one.text().size() - heading;
      }
      EXPECT_EQ(length + all.text().find("\n\n") + 1, all.text().size())
          << "the sections make up the report";
      options.sections.clear();
    }
  }
}

TEST(Stats, TablesHaveAsManyRowsAsAskedFor) {
  MakeTrace made;
  const uint32_t stack = made.Stack({{"f", "f.cc", 1, "/bin/x"}});
  for (uint32_t thread = 0; thread < 9; ++thread) {
    made.NameThread(thread, "worker" + std::to_string(thread));
    made.Allocate(10 + thread, thread, 100, stack);
  }
  const Opened opened(made);
  const trace::StatsRequest request;
  const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(stats);
  StatsOptions options;
  options.sections = {"threads"};
  options.rows = 3;
  const std::string text = StatsText(opened.subject, *stats, request, options).text();
  EXPECT_NE(text.find("worker2"), std::string::npos) << text;
  EXPECT_EQ(text.find("worker3"), std::string::npos) << text;
  EXPECT_NE(text.find("6 more threads"), std::string::npos) << text;
}

TEST(Stats, OfARangeTellItsRatesAndWhatItsPagesAre) {
  Opened opened(Random());
  const uint64_t end = opened.trace->end_ns();
  trace::BlockFilter filter;
  filter.born.from = trace::TraceMoment::At(end / 2);
  filter.born.to = trace::TraceMoment::At(end / 2 + end / 4);
  const auto matcher =
      trace::Matcher::Compile(filter, *opened.trace, **opened.trace->ReadStacks()).value();
  trace::StatsRequest request;
  request.matcher = &matcher;
  const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->rates.over_ns, end / 4);
  opened.subject.filter = filter.Text();
  const nlohmann::json j =
      nlohmann::json::parse(StatsJson(opened.subject, *stats, request, StatsOptions()));
  EXPECT_DOUBLE_EQ(
      j["rates"]["allocations_per_second"],
      static_cast<double>(stats->allocated.blocks) / (static_cast<double>(end / 4) / 1e9));
  EXPECT_NE(StatsText(opened.subject, *stats, request, {}).text().find("counts as free"),
            std::string::npos);
}

TEST(Stats, DoNotTellWhatTheRecorderDidNotKnow) {
  MakeTrace made = Random();
  made.facts.only_blocks = true;
  const Opened opened(std::move(made));
  const trace::StatsRequest request;
  const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(stats);
  const std::string text = StatsText(opened.subject, *stats, request, {}).text();
  EXPECT_EQ(text.find("resized  "), std::string::npos) << text;
  for (const char* section : {"By call", "Threads", "Buffers that grow by realloc", "Alignment"}) {
    EXPECT_NE(text.find(std::string(section) + "\nNot known: "), std::string::npos) << text;
  }
  const nlohmann::json j =
      nlohmann::json::parse(StatsJson(opened.subject, *stats, request, StatsOptions()));
  for (const char* section : {"calls", "threads", "slack", "realloc", "alignment"}) {
    ASSERT_TRUE(j.contains(section)) << section;
    EXPECT_TRUE(j[section].is_null()) << section;
  }
  EXPECT_TRUE(j["totals"]["resizes"].is_null());
  EXPECT_TRUE(j["totals"]["slack_bytes"].is_null());
  EXPECT_FALSE(j["sizes"].is_null());
}

TEST(Stats, DoNotTellHowBlocksLieThatHaveNoAddresses) {
  MakeTrace made;
  made.with_addresses = false;
  const uint32_t stack = made.Stack({"f", "main"});
  made.Free(3, made.Allocate(1, 0, 5000, stack));
  for (const bool leaves_some : {false, true}) {
    if (leaves_some) made.Allocate(4, 0, 100, stack);
    const Opened opened(made);
    trace::StatsRequest request;
    for (const bool only_pages : {false, true}) {
      request.wants_counts = request.wants_chains = !only_pages;
      const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
      ASSERT_TRUE(stats);
      StatsOptions options;
      options.sections = {"pages"};
      const std::string text = StatsText(opened.subject, *stats, request, options).text();
      EXPECT_NE(text.find("in memory\nNot known: "), std::string::npos) << text;
      const nlohmann::json j =
          nlohmann::json::parse(StatsJson(opened.subject, *stats, request, options));
      ASSERT_TRUE(j.contains("pages"));
      EXPECT_TRUE(j["pages"].is_null());
    }
  }
}

TEST(Stats, DoNotSayThatNothingWasResizedWhereThatWasLeftOut) {
  for (const bool one_is_known : {false, true}) {
    MakeTrace made;
    made.facts.culled_below_ns = 1'000'000;
    const uint32_t stack = made.Stack({"grow", "main"});
    trace::Block block;
    block.stack = stack;
    block.size = 100;
    block.function = static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
    for (block.birth_ns = 1; block.birth_ns <= 20; ++block.birth_ns) made.Allocate(block);
    if (one_is_known) made.Reallocate(30, 0, 200, stack);
    const Opened opened(std::move(made));
    const trace::StatsRequest request;
    const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
    ASSERT_TRUE(stats);
    const std::string text = StatsText(opened.subject, *stats, request, {}).text();
    const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
    EXPECT_FALSE(says("Nothing was resized")) << text;
    EXPECT_EQ(says("not known: realloc made 20 of nothing, or of what was left out"), !one_is_known)
        << text;
    EXPECT_EQ(says("Not known: realloc made 20 blocks of nothing"), !one_is_known) << text;
    EXPECT_EQ(says("1 blocks were made of others by realloc (4.8%), and 20 of nothing or of"),
              one_is_known)
        << text;
    EXPECT_EQ(says("realloc made 20 others of nothing"), one_is_known) << text;
    const nlohmann::json j =
        nlohmann::json::parse(StatsJson(opened.subject, *stats, request, StatsOptions()));
    EXPECT_EQ(j["totals"]["resizes"].is_null(), !one_is_known);
    EXPECT_EQ(j["realloc"].is_null(), !one_is_known);
    EXPECT_EQ(j["totals"]["unlinked_reallocs"], 20);
  }
}

TEST(Stats, JsonAddsUp) {
  const Opened opened(Random());
  trace::StatsRequest request;
  request.moments = {"peak", "end"};
  const auto stats = trace::ReadStats(*opened.trace, *opened.groups, request);
  ASSERT_TRUE(stats);
  StatsOptions options;
  options.rows = 10'000;
  const nlohmann::json j =
      nlohmann::json::parse(StatsJson(opened.subject, *stats, request, options));
  const nlohmann::json& totals = j["totals"];
  const uint64_t blocks = totals["allocated"]["blocks"];
  EXPECT_EQ(blocks, totals["freed"]["blocks"].get<uint64_t>() +
                        totals["never_freed"]["blocks"].get<uint64_t>());
  const auto sum = [](const nlohmann::json& list, const char* key, const char* inner = nullptr) {
    uint64_t total = 0;
    for (const nlohmann::json& entry : list) {
      total += (inner == nullptr ? entry[key] : entry[key][inner]).get<uint64_t>();
    }
    return total;
  };
  EXPECT_EQ(sum(j["sizes"]["classes"], "blocks"), blocks);
  EXPECT_EQ(sum(j["calls"], "blocks"), blocks);
  EXPECT_EQ(sum(j["threads"], "allocated", "blocks"), blocks);
  EXPECT_EQ(sum(j["threads"], "frees"), totals["freed"]["blocks"]);
  EXPECT_EQ(sum(j["threads"], "frees_of_others"), sum(j["threads"], "freed_by_others"));
  EXPECT_EQ(sum(j["rates"]["points"], "allocations"), blocks);
  EXPECT_EQ(sum(j["slack"]["rows"], "slack_bytes"), j["slack"]["bytes"]);
  EXPECT_EQ(sum(j["churn"]["rows"], "temporary", "blocks"), totals["temporary"]["blocks"]);
  EXPECT_EQ(sum(j["realloc"]["rows"], "resizes"), j["realloc"]["resizes"]);
  EXPECT_GT(j["realloc"]["resizes"], 0);
  EXPECT_EQ(totals["resizes"], j["realloc"]["resizes"]);
  ASSERT_EQ(j["pages"].size(), 2u);
  EXPECT_EQ(j["pages"][0]["bytes"], totals["peak"]["bytes"]);
  EXPECT_EQ(j["pages"][1]["bytes"], totals["never_freed"]["bytes"]);
  for (const nlohmann::json& page : j["pages"]) {
    EXPECT_EQ(sum(page["pins"], "pinned_bytes"), page["pinned_bytes"]);
    for (const nlohmann::json& range : page["ranges"]) {
      uint64_t ranges = 0;
      for (const nlohmann::json& count : range["by_eighths_full"]) ranges += count.get<uint64_t>();
      EXPECT_EQ(ranges, range["ranges"]);
    }
  }
  options.sections = {"pages"};
  const nlohmann::json one =
      nlohmann::json::parse(StatsJson(opened.subject, *stats, request, options));
  EXPECT_TRUE(one.contains("pages"));
  EXPECT_FALSE(one.contains("totals"));
}

// A sampled profile of two functions: many small blocks of one second, few large old ones.
Profile Sampled() {
  testing::GaugeBuilder b;
  b.AddModule("/opt/server", 0x1000, 0x9000, 0x1000);
  const uint32_t young = b.AddStack({0x1101, 0x2001});
  const uint32_t old = b.AddStack({0x1201, 0x2001});
  for (int i = 0; i < 30; ++i) b.AddLive(young, 4096, 65536, 60'000'000'000);
  for (int i = 0; i < 3; ++i) b.AddLive(old, 1 << 20, 65536, 1'000'000'000);
  b.header().ended_ns = 61'000'000'000;
  const std::string bytes = b.Build();
  Profile profile = ReadGauge(MemorySource(bytes), "x.hg").value();
  Symbolize({}, &profile);
  return profile;
}

TEST(LiveSamples, CountAgesAndSizesOfWhatIsLive) {
  const Profile profile = Sampled();
  const auto samples = CountLiveSamples(profile, {}, Granularity::kFunctions);
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->total.samples, 33u);
  ASSERT_EQ(samples->rows.size(), 2u);
  EXPECT_EQ(samples->rows[0].all.samples, 3u) << "most bytes first";
  EXPECT_EQ(samples->rows[0].MeanAge(), 60'000'000'000u);
  EXPECT_EQ(samples->rows[1].oldest_ns, 1'000'000'000u);
  EXPECT_EQ(samples->SizeClass(12).samples, 30u);
  EXPECT_EQ(samples->SizeClass(20).samples, 3u);
  EXPECT_EQ(samples->Age(LifetimeStepOf(60'000'000'000)).samples, 3u);
  const double value = samples->Age(LifetimeStepOf(1'000'000'000)).bytes.value;
  EXPECT_NEAR(value, 30 * WeightOf(4096, 65536).bytes, 1);
  const SampledSubject subject{profile, *samples, {}, {}};
  for (const size_t width : {80, 160}) {
    LiveSamplesOptions options;
    options.layout.width = width;
    const std::string ages = AgesText(subject, options).text();
    EXPECT_NE(ages.find("how long freed ones lived is not"), std::string::npos) << ages;
    EXPECT_NE(ages.find("server+0x200"), std::string::npos) << ages;
    const std::string stats = SampledStatsText(subject, options).text();
    EXPECT_NE(stats.find("Sizes of live blocks"), std::string::npos) << stats;
  }
  const nlohmann::json j = nlohmann::json::parse(LiveSamplesJson(subject, {}));
  uint64_t by_age = 0;
  for (const nlohmann::json& age : j["ages"]) by_age += age["samples"].get<uint64_t>();
  EXPECT_EQ(by_age, 33u);
  EXPECT_LT(j["live"]["bytes"]["low"], j["live"]["bytes"]["value"]);
  EXPECT_GT(j["live"]["bytes"]["high"], j["live"]["bytes"]["value"]);
}

TEST(LiveSamples, AProfileOfSumsHasNone) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  const auto samples = CountLiveSamples(profile, {}, Granularity::kFunctions);
  ASSERT_FALSE(samples);
  EXPECT_NE(samples.error().message.find("sums only"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
