// What the resources say about a trace: the same as the reports of the command line.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/report/draw/timeline_graph.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/stats.h"
#include "core/report/views/timeline.h"
#include "core/trace/answer/lifetimes.h"
#include "core/trace/answer/trace_timeline.h"
#include "core/trace/testing/growing_trace.h"
#include "endpoint/testing/one_trace.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::OneTrace;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;

// A trace by somebody who wants to see other people's files.
TEST(TraceApi, ShowsSourceCodeAndNoOtherFileThatATraceNames) {
  std::string folder = ::testing::TempDir() + "namedXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  const std::string secret = "root:$6$salt$hash:19000:0:99999:7:::";
  const std::string code = write("code.cc", "int main() {\n\treturn secret;\f\n}\n");
  const std::string binary = write("binary.cc", "key \x01\x02" + secret);
  const std::vector<std::string> hidden = {write("shadow", secret), write("id_rsa.pem", secret),
                                           write(".env", secret), "/etc/passwd", binary};
  MakeTrace made;
  made.Allocate(1, 0, 100, made.Stack({{"Work", code, 2}}));
  for (const std::string& file : hidden) made.Allocate(2, 0, 100, made.Stack({{file, file, 1}}));
  for (const bool allowed : {false, true}) {
    SourceLookup lookup;
    lookup.allowed = allowed;
    OneTrace host(made.Open(), lookup);
    for (const std::string& file : hidden) {
      const Response answer = host.Get("/api/v1/source?file=" + file);
      EXPECT_EQ(answer.body.find("root:"), std::string::npos) << file;
      const json chosen = json::parse(answer.body)["chosen"];
      EXPECT_EQ(chosen["file"], file);
      EXPECT_EQ(chosen["found"], false) << file;
      EXPECT_EQ(chosen["lines"].size(), 0u);
      if (!allowed) continue;
      EXPECT_EQ(chosen["problem"],
                file == binary
                    ? "it is no text"
                    : "it is not called as source files are, and no other file is shown here");
    }
    const json shown = host.Ask("/api/v1/source?file=" + code)["chosen"];
    EXPECT_EQ(shown["found"], allowed);
    EXPECT_EQ(shown["lines"].size(), allowed ? 3u : 0u);
  }
  std::filesystem::remove_all(folder);
}

MakeTrace Busy() {
  MakeTrace made;
  RandomTrace how;
  how.events = 4000;
  how.threads = 6;
  AddRandomEvents(how, &made);
  made.NameThread(0, "main");
  trace::MemoryPoint point;
  point.time_ns = 1000;
  point.resident_bytes = 5 << 20;
  point.cgroup_bytes = 6 << 20;
  point.cgroup_limit = 64 << 20;
  made.Memory(point);
  made.Mark(5000, "a mark");
  return made;
}

TEST(TraceApi, TheTimelineIsThatOfTheCommandLine) {
  OneTrace host(Busy());
  trace::TimelineRequest request;
  request.steps = 50;
  request.bands = 3;
  request.lanes = 2;
  auto made = trace::ReadTraceTimeline(*host.trace, request);
  ASSERT_TRUE(made);
  NameBands(**host.trace->ReadStacks(), &*made);
  const json expected = json::parse(TimelineJson(made->timeline));
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=50&stacks=3&threads=2"), expected);
  ASSERT_EQ(expected["threads"].size(), 3u);
  EXPECT_TRUE(expected["threads"][2]["thread"].is_null());
  EXPECT_EQ(expected["threads"][2]["threads"], 4);
  EXPECT_EQ(expected["cgroup_limit"], 64 << 20);
  EXPECT_EQ(expected["markers"][0]["text"], "a mark");
}

TEST(TraceApi, ATimelineOfAPartHasOnlyThat) {
  OneTrace host(Busy());
  const json part = host.Ask("/api/v1/timeline?from=25%25&to=50%25&steps=10&threads=1");
  EXPECT_NEAR(part["from_ns"].get<double>(), static_cast<double>(host.trace->end_ns()) / 4, 1);
  EXPECT_EQ(part["points"].size(), 10u);
  EXPECT_EQ(part["threads"][0]["over_time"]["allocated_bytes"].size(), 10u);
  EXPECT_EQ(host.Get("/api/v1/timeline?threads=101").status, 400);
  EXPECT_EQ(host.Get("/api/v1/timeline?threads=x").status, 400);
}

TEST(TraceApi, RangesThatAdjoinAddUpInAllResources) {
  const MakeTrace made = Busy();
  OneTrace host(made);
  // An event is right there.
  const std::string at = std::to_string(made.events()[made.events().size() / 2].time_ns);
  for (const std::string& moment : {at + "ns", std::string("peak"), std::string("0s")}) {
    const auto sum = [&](const std::string& resource, const json::json_pointer& figure) {
      const json before = host.Ask(resource + "&to=" + moment);
      const json behind = host.Ask(resource + "&from=" + moment);
      return before[figure].get<double>() + behind[figure].get<double>();
    };
    for (const auto& [resource, figure] :
         {std::pair<std::string, json::json_pointer>{"/api/v1/timeline?steps=7",
                                                     json::json_pointer("/allocated_blocks")},
          {"/api/v1/timeline?steps=7", json::json_pointer("/freed_bytes")},
          {"/api/v1/lifetimes?rows=1", json::json_pointer("/total/bytes")},
          {"/api/v1/table?value=freed", json::json_pointer("/total/value/value")}}) {
      EXPECT_EQ(sum(resource, figure), host.Ask(resource)[figure].get<double>())
          << resource << " " << moment;
    }
  }
}

TEST(TraceApi, TheTimelineIsAboutTheBlocksOfTheFilter) {
  OneTrace host(Busy());
  const json all = host.Ask("/api/v1/timeline?steps=20");
  EXPECT_FALSE(all.contains("filter"));
  for (const std::string words : {"min-size=20K", "thread=1001", "focus=caller_3", "freed=1",
                                  "min-lifetime=100us", "not-function=caller_1"}) {
    const json part = host.Ask("/api/v1/timeline?steps=20&" + words);
    EXPECT_NE(part["filter"], "") << words;
    EXPECT_LT(part["peak"]["live_bytes"], all["peak"]["live_bytes"]) << words;
    EXPECT_GT(part["peak"]["live_bytes"], 0) << words;
    // The memory of the process is all of it.
    EXPECT_EQ(part["most_resident_bytes"], all["most_resident_bytes"]);
    // What was allocated is that of the profile with the same filter.
    const json table = host.Ask("/api/v1/table?value=allocated&" + words);
    EXPECT_EQ(part["allocated_bytes"], table["selected"]["allocated_bytes"]["value"]) << words;
  }
  // Where the ranges are that somebody chose does not matter.
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=20&value=left&at=peak"), all);
}

TEST(TraceApi, ATraceThatIsWrittenAdvances) {
  trace::testing::GrowingTrace growing(Busy());
  growing.WriteUpTo(1000);
  OneTrace host(*trace::TraceFile::Open(growing.path()));
  const auto is_live = [&] { return host.Ask("/api/v1/sources")["sources"][0]["live"]; };
  EXPECT_EQ(is_live(), true);
  const json first = host.Ask("/api/v1/summary?hold=one");
  EXPECT_EQ(first["source"]["live"], true);
  EXPECT_EQ(first["recording"]["state"], "live");
  EXPECT_EQ(first["state"].get<std::string>().rfind("being written, ", 0), 0u) << first["state"];
  const json early = host.Ask("/api/v1/timeline?steps=10&hold=one");
  growing.WriteUpTo(3000);
  // Who holds on to one state of it finds that again, also in what was not asked before.
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=10&hold=one"), early);
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=20&hold=one")["to_ns"], early["to_ns"]);
  EXPECT_EQ(host.Ask("/api/v1/lifetimes?hold=one")["total"]["blocks"],
            first["total"]["allocated_objects"]);
  const json later = host.Ask("/api/v1/timeline?steps=10&hold=two");
  EXPECT_GT(later["to_ns"], early["to_ns"]);
  EXPECT_GT(later["allocated_blocks"], early["allocated_blocks"]);
  EXPECT_EQ(host.Ask("/api/v1/timeline?steps=10"), later);
  EXPECT_EQ(host.Ask("/api/v1/summary")["total"]["live_bytes"]["value"],
            later["end"]["live_bytes"]);
  growing.Finish();
  EXPECT_EQ(is_live(), false);
  const json last = host.Ask("/api/v1/summary");
  EXPECT_EQ(last["recording"]["state"], "ended");
  EXPECT_EQ(last["total"]["allocated_objects"], host.Ask("/api/v1/timeline")["allocated_blocks"]);
}

TEST(TraceApi, LifetimesAreThoseOfTheCommandLine) {
  OneTrace host(Busy());
  const auto stacks = *host.trace->ReadStacks();
  for (const auto& [by, order] : {std::pair<const char*, const char*>{"function", "blocks"},
                                  {"stack", "never"},
                                  {"thread", "lifetime"}}) {
    const trace::BlockGroups groups(*stacks, trace::GroupByOf(by), host.trace->threads().size());
    trace::LifetimeRequest request;
    request.sort = trace::LifetimeSortOf(order);
    request.rows = 7;
    const auto report = trace::ReadLifetimes(*host.trace, groups, request, nullptr);
    ASSERT_TRUE(report);
    const TraceSubject subject{host.trace.get(), stacks.get(), &groups, "", host.trace->notes()};
    EXPECT_EQ(host.Ask(std::string("/api/v1/lifetimes?rows=7&by=") + by + "&order=" + order),
              json::parse(LifetimesJson(subject, *report)));
  }
  EXPECT_EQ(host.Get("/api/v1/lifetimes?order=size").status, 400);
}

TEST(TraceApi, PagesOfTheMemoryMapAreThoseOfStats) {
  OneTrace host(Busy());
  const auto stacks = *host.trace->ReadStacks();
  for (const char* at : {"peak", "end", "40%25"}) {
    const trace::BlockGroups groups(*stacks, trace::GroupBy::kFunction,
                                    host.trace->threads().size());
    trace::StatsRequest request;
    request.moments = {std::string(at) == "40%25" ? "40%" : at};
    const auto stats = trace::ReadStats(*host.trace, groups, request);
    ASSERT_TRUE(stats);
    StatsOptions options;
    options.sections = {"pages"};
    const TraceSubject subject{host.trace.get(), stacks.get(), &groups, "", {}};
    const json expected = json::parse(StatsJson(subject, *stats, request, options))["pages"][0];
    const json answer = host.Ask(std::string("/api/v1/memory-map?rows=2000&cells=300&at=") + at);
    EXPECT_EQ(answer["pages"], expected);
    // The cells hold all of it.
    const json& map = answer["map"];
    uint64_t bytes = 0;
    for (const json& cell : map["live_bytes"]) bytes += cell.get<uint64_t>();
    EXPECT_GE(bytes, expected["bytes"].get<uint64_t>());
    EXPECT_LE(bytes, expected["bytes"].get<uint64_t>() + expected["blocks"].get<uint64_t>());
    EXPECT_LE(map["live_bytes"].size(), 300u);
    size_t cells = 0;
    for (const json& area : map["areas"]) cells += area["cells"].get<size_t>();
    EXPECT_EQ(cells, map["live_bytes"].size());
    EXPECT_EQ(cells, map["largest"].size());
  }
}

TEST(TraceApi, TheMemoryMapTellsWhoHoldsACell) {
  MakeTrace made;
  const auto place = [&](uint64_t address, uint64_t size, const char* function) {
    trace::Block block;
    block.birth_ns = 10 + made.blocks().size();
    block.address = address;
    block.size = size;
    block.stack = made.Stack({function, "main"});
    return made.Allocate(block);
  };
  place(0x10000, 500, "Small");
  place(0x10400, 900, "Large");
  made.Free(100, place(0x12000, 4000, "Gone"));
  OneTrace host(made);
  const json answer = host.Ask("/api/v1/memory-map?start=65536&end=69632");
  EXPECT_EQ(answer["map"]["unit"], 4096);
  EXPECT_EQ(answer["map"]["live_bytes"], json::array({1400}));
  EXPECT_EQ(answer["names"][0]["label"], "Large");
  EXPECT_EQ(answer["holders"]["bytes"], 1400);
  ASSERT_EQ(answer["holders"]["rows"].size(), 2u);
  EXPECT_EQ(answer["holders"]["rows"][1]["function"], "Small");
  EXPECT_EQ(answer["pages"]["pinned_bytes"], 0);  // it is a third full
  const json before = host.Ask("/api/v1/memory-map?at=50ns");
  EXPECT_EQ(before["map"]["live_bytes"], json::array({1400, 0, 4000}));
  EXPECT_EQ(before["map"]["largest"][1], -1);
  const json one = host.Ask("/api/v1/memory-map?function=Small");
  EXPECT_EQ(one["map"]["live_bytes"], json::array({500}));
  for (const char* bad : {"cells=0", "by=words", "page=5K", "start=9&end=3", "at=tomorrow"}) {
    EXPECT_EQ(host.Get(std::string("/api/v1/memory-map?") + bad).status, 400) << bad;
  }
}

TEST(TraceApi, AnEmptyTraceHasAnEmptyMap) {
  OneTrace host{MakeTrace()};
  EXPECT_EQ(host.Ask("/api/v1/memory-map")["map"]["live_bytes"], json::array());
}

TEST(TraceApi, ATraceWithoutAddressesSaysSoInPlaceOfAMap) {
  MakeTrace made;
  made.with_addresses = false;
  trace::Block block;
  block.birth_ns = 10;
  block.size = 500;
  block.stack = made.Stack({"Small", "main"});
  made.Allocate(block);
  OneTrace host(made);
  const auto answer = host.Get("/api/v1/memory-map");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("this trace has no addresses"), std::string::npos) << answer.body;
}

TEST(ProcessApi, TheMemoryMapHasTheRegions) {
  testing::OneProcess host;
  host.process->survey = testing::SmallSurvey();
  SampledBlock block;
  block.row = 0;
  block.address = 0x2000;
  block.size = 300;
  host.process->profile.blocks = {block};
  const json answer = json::parse(host.Get("/api/v1/memory-map").body);
  EXPECT_EQ(answer["kind"], "process");
  ASSERT_EQ(answer["regions"].size(), 3u);
  EXPECT_EQ(answer["regions"][0]["owner"], "heap");
  EXPECT_EQ(answer["regions"][0]["live_bytes"], 300);
  EXPECT_EQ(answer["regions"][0]["largest"]["function"], "Server::LoadCache(int)");
  EXPECT_EQ(answer["regions"][0]["swapped_bytes"], 0x1000 * 5 / 6);
  EXPECT_EQ(answer["owners"][0]["owner"], "heap");
  uint64_t sum = 0;
  for (const json& part : answer["parts"]) sum += part["bytes"].get<uint64_t>();
  EXPECT_EQ(sum, answer["resident_bytes"].get<uint64_t>());
  EXPECT_EQ(json::parse(host.Get("/api/v1/memory-map?rows=1").body)["left_out"], 2);
}

}  // namespace
}  // namespace heapgauge::endpoint::api
