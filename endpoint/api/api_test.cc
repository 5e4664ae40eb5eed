#include "endpoint/api/api.h"
#include "endpoint/target.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/report/views/exports.h"
#include "core/report/views/peek.h"
#include "core/report/views/top.h"
#include "endpoint/api/query.h"
#include "endpoint/api/sources.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::FakeProcess;
using testing::OneProcess;

json Parsed(const Response& response) {
  json parsed = json::parse(response.body, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << response.body.substr(0, 200);
  return parsed;
}

json Get(OneProcess* host, const std::string& target) {
  const Response response = host->Get(target);
  EXPECT_EQ(response.status, 200) << target << ": " << response.body;
  EXPECT_EQ(response.Header("Content-Type"), "application/json");
  return Parsed(response);
}

// The names of the nodes of a flame graph, each with its depth and what it holds: "main 8".
std::string Drawn(const json& flame) {
  const json& nodes = flame["nodes"];
  std::vector<size_t> depth(nodes["parent"].size());
  std::string text;
  for (size_t i = 1; i < depth.size(); ++i) {
    depth[i] = depth[nodes["parent"][i].get<size_t>()] + 1;
    text += std::string(depth[i] - 1, '.') +
            flame["names"][nodes["name"][i].get<size_t>()]["label"].get<std::string>() + " " +
            std::to_string(static_cast<int>(nodes["value"][i].get<double>()) >> 20) + "\n";
  }
  return text;
}

TEST(Api, ListsTheSources) {
  OneProcess host;
  const json answer = Get(&host, "/api/v1/sources");
  ASSERT_EQ(answer["sources"].size(), 1u);
  EXPECT_EQ(answer["sources"][0]["id"], "4242");
  EXPECT_EQ(answer["sources"][0]["kind"], "process");
  EXPECT_EQ(answer["sources"][0]["live"], true);
  EXPECT_EQ(answer["chosen"], "4242");
}

TEST(Api, SaysWhatASourceHolds) {
  OneProcess host;
  const json answer = Get(&host, "/api/v1/summary?source=4242");
  EXPECT_EQ(answer["recording"]["program"], "/usr/bin/server");
  EXPECT_EQ(answer["total"]["live_bytes"]["value"], 8 << 20);
  EXPECT_EQ(answer["stacks"], 3);
  std::string titles;
  for (const json& choice : answer["choices"]) titles += choice["title"].get<std::string>() + ", ";
  EXPECT_EQ(titles, "live, live objects, allocated, allocated objects, freed, freed objects, ");
  EXPECT_TRUE(answer["memory"].is_object());
}

TEST(Api, TellsWhatASampledProcessFreed) {
  OneProcess host;
  const json all = Get(&host, "/api/v1/summary")["total"];
  const json freed = Get(&host, "/api/v1/summary?value=freed");
  EXPECT_EQ(freed["name"], "freed");
  const auto value = [](const json& estimate) { return estimate["value"].get<double>(); };
  EXPECT_EQ(value(freed["total"]["value"]),
            value(all["allocated_bytes"]) - value(all["live_bytes"]));
  EXPECT_EQ(Get(&host, "/api/v1/flame?value=freed")["value"], value(freed["total"]["value"]));
  EXPECT_EQ(Get(&host, "/api/v1/summary?value=freed&blocks=1")["unit"], "count");
  // What samples do not tell is not made up.
  for (const char* words : {"value=temporary", "value=growth", "value=freed&peak=1",
                            "value=freed&at=peak", "value=freed&from=1s"}) {
    EXPECT_EQ(host.Get(std::string("/api/v1/summary?") + words).status, 400) << words;
  }
}

TEST(Api, ShowsTheCallTreeFromCallersAndFromWhatAllocates) {
  OneProcess host;
  EXPECT_EQ(Drawn(Get(&host, "/api/v1/flame")),
            "main 8\n.Server::LoadCache 6\n.Server::ReadRequest 2\n");
  EXPECT_EQ(Drawn(Get(&host, "/api/v1/flame?callers=1")),
            "Server::LoadCache 6\n.main 6\nServer::ReadRequest 2\n.main 2\n");
  EXPECT_EQ(Drawn(Get(&host, "/api/v1/flame?sort=allocated&depth=1")), "main 51\n");
  EXPECT_EQ(Drawn(Get(&host, "/api/v1/flame?focus=Read")), "main 2\n.Server::ReadRequest 2\n");
  // A quarter of the width and more.
  EXPECT_EQ(Drawn(Get(&host, "/api/v1/flame?width=2")), "main 8\n.Server::LoadCache 6\n");
}

TEST(Api, ShowsWhatIsBelowACall) {
  OneProcess host;
  const json all = Get(&host, "/api/v1/flame");
  std::string path;
  for (const size_t i : {1, 2}) {
    path += all["names"][all["nodes"]["name"][i].get<size_t>()]["step"].get<std::string>();
  }
  const json part = Get(&host, "/api/v1/flame?root=" + path);
  EXPECT_EQ(part["path"].size(), 3u);
  EXPECT_EQ(part["path"][2]["value"], 6 << 20);
  EXPECT_EQ(part["nodes"]["value"], json::array({6 << 20}));
  const json frame = Get(&host, "/api/v1/frame?root=" + path);
  EXPECT_EQ(frame["function"], "Server::LoadCache(int)");
  EXPECT_EQ(frame["place"], "cache.cc:42");
  EXPECT_EQ(frame["figures"]["live_objects"], 600);
  EXPECT_EQ(frame["stack"].size(), 2u);
  const json lost = Get(&host, "/api/v1/flame?focus=Read&root=" + path);
  EXPECT_EQ(lost["found"], false);
  EXPECT_EQ(host.Get("/api/v1/frame?focus=Read&root=" + path).status, 404);
}

// The same functions make both, so that every digit is the same.
TEST(Api, TablesHaveTheFiguresOfTheCommandLine) {
  OneProcess host;
  Profile profile = host.process->profile;
  profile.recording = host.process->facts;
  for (const bool cumulative : {false, true}) {
    FunctionOptions options;
    options.cumulative = cumulative;
    const auto report = AggregateFunctions(profile, options);
    ASSERT_TRUE(report);
    TopOptions top;
    top.cumulative = cumulative;
    const json expected = json::parse(TopJson(profile, *report, {}, top));
    const json answer =
        Get(&host, std::string("/api/v1/table?cumulative=") + (cumulative ? "1" : "0"));
    EXPECT_EQ(answer["total"], expected["total"]);
    ASSERT_EQ(answer["rows"].size(), expected["functions"].size());
    for (size_t i = 0; i < answer["rows"].size(); ++i) {
      for (const char* field : {"flat", "label", "function"}) {
        EXPECT_EQ(answer["rows"][i][field], expected["functions"][i][field]);
      }
      EXPECT_EQ(answer["rows"][i].contains("cum"), cumulative);
      if (cumulative) {
        EXPECT_EQ(answer["rows"][i]["cum"], expected["functions"][i]["cum"]);
      }
    }
    const json page = Get(
        &host, std::string("/api/v1/table?first=1&rows=1&cumulative=") + (cumulative ? "1" : "0"));
    EXPECT_EQ(page["rows"], json::array({answer["rows"][1]}));
  }
}

TEST(Api, TablesShowNamesThatMatchInAnyOrder) {
  OneProcess host;
  const auto names = [&](const std::string& words) {
    std::string text;
    const json answer = Get(&host, "/api/v1/table?cumulative=1&" + words);
    for (const json& row : answer["rows"]) {
      text += row["label"].get<std::string>() + " ";
    }
    return text;
  };
  EXPECT_EQ(names("rows=200"), "main Server::LoadCache Server::ReadRequest Server::Scratch ");
  EXPECT_EQ(names("reverse=1"), "Server::Scratch Server::ReadRequest Server::LoadCache main ");
  EXPECT_EQ(names("order=name"), "Server::LoadCache Server::ReadRequest Server::Scratch main ");
  EXPECT_EQ(names("match=^server"), "Server::LoadCache Server::ReadRequest Server::Scratch ");
  EXPECT_EQ(names("match=cache("), "Server::LoadCache ") << "the plain text of a name";
  const json page = Get(&host, "/api/v1/table?cumulative=1&match=server&first=1");
  EXPECT_EQ(page["count"], 3);
  EXPECT_EQ(page["row_count"], 4);
  EXPECT_EQ(page["rows"].size(), 2u);
  EXPECT_TRUE(Get(&host, "/api/v1/table?both=1")["rows"][0].contains("cum"));
  EXPECT_EQ(host.Get("/api/v1/table?order=size").status, 400);
}

// The rows of a tree, each with its depth: ".Server::LoadCache 6".
std::string RowsOf(const json& tree) {
  std::vector<size_t> depth;
  std::string text;
  for (const json& node : tree["nodes"]) {
    const bool is_first = node["parent"].is_null();
    depth.push_back(is_first ? 0 : depth[node["parent"].get<size_t>()] + 1);
    EXPECT_EQ(node["value"], node["figures"]["live_bytes"]["value"]);
    if (is_first) continue;
    text += std::string(depth.back() - 1, '.') + node["label"].get<std::string>() + " " +
            std::to_string(node["value"].get<int>() >> 20) + "\n";
  }
  return text;
}

TEST(Api, OpensTheRowsOfATreeOneByOne) {
  OneProcess host;
  const json closed = Get(&host, "/api/v1/tree");
  EXPECT_EQ(RowsOf(closed), "main 8\n");
  EXPECT_EQ(closed["nodes"][1]["children"], 2);
  EXPECT_EQ(closed["nodes"][1]["self"], 0);
  const std::string step = closed["nodes"][1]["step"];
  const std::string open = "main 8\n.Server::LoadCache 6\n.Server::ReadRequest 2\n";
  EXPECT_EQ(RowsOf(Get(&host, "/api/v1/tree?open=" + step)), open);
  EXPECT_EQ(RowsOf(Get(&host, "/api/v1/tree?heaviest=1")), open);
  EXPECT_EQ(RowsOf(Get(&host, "/api/v1/tree?open=" + step + "&rows=1")),
            "main 8\n.Server::LoadCache 6\n");
  EXPECT_EQ(RowsOf(Get(&host, "/api/v1/tree?callers=1")),
            "Server::LoadCache 6\nServer::ReadRequest 2\n");
  EXPECT_EQ(RowsOf(Get(&host, "/api/v1/tree?root=" + step)),
            "Server::LoadCache 6\nServer::ReadRequest 2\n");
  EXPECT_EQ(Get(&host, "/api/v1/tree?root=AAAAAA")["found"], false);
  for (const char* walk : {"AAAAA", "AAAAAA..", ".", "AAAA A"}) {
    EXPECT_EQ(host.Get("/api/v1/tree?open=" + std::string(walk)).status, 400) << walk;
  }
}

TEST(Api, ShowsCallersAndCalleesAsTheCommandLine) {
  OneProcess host;
  Profile profile = host.process->profile;
  profile.recording = host.process->facts;
  PeekOptions options;
  options.pattern = "Server";
  const json expected = json::parse(*PeekJson(profile, options));
  json answer = Get(&host, "/api/v1/peek?pattern=Server");
  EXPECT_EQ(answer["matching"], expected["matching"]);
  ASSERT_EQ(answer["functions"].size(), expected["functions"].size());
  for (size_t i = 0; i < expected["functions"].size(); ++i) {
    const json& function = answer["functions"][i];
    for (const char* field : {"function", "flat", "cum"}) {
      EXPECT_EQ(function[field], expected["functions"][i][field]);
    }
    for (const char* side : {"callers", "callees"}) {
      const json& wanted = expected["functions"][i][side];
      ASSERT_EQ(function[side].size(), wanted.size());
      for (size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_EQ(function[side][k]["function"], wanted[k]["function"]);
        EXPECT_EQ(function[side][k]["figures"], wanted[k]["figures"]);
      }
    }
  }
  EXPECT_EQ(Get(&host, "/api/v1/peek?pattern=nothing")["functions"].size(), 0u);
  EXPECT_EQ(host.Get("/api/v1/peek?pattern=(").status, 400);
}

TEST(Api, SaysSoWhereNobodyKnowsHowRowsWent) {
  OneProcess host;
  const json answer = Get(&host, "/api/v1/history?rows=5");
  EXPECT_EQ(answer["known"], false);
  EXPECT_NE(answer["why_not"], "");
  EXPECT_EQ(host.Get("/api/v1/history?points=1").status, 400);
}

TEST(Api, DrawsTheCallGraph) {
  OneProcess host;
  const json graph = Get(&host, "/api/v1/graph");
  ASSERT_EQ(graph["boxes"].size(), 3u);
  EXPECT_EQ(graph["arrows"].size(), 2u);
  for (const json& box : graph["boxes"]) {
    EXPECT_GE(box["x"], 0);
    EXPECT_LE(box["x"].get<double>() + box["width"].get<double>(), graph["width"]);
    EXPECT_LE(box["y"].get<double>() + box["height"].get<double>(), graph["height"]);
    if (box["name"] != "Server::LoadCache") continue;
    EXPECT_EQ(box["function"], "Server::LoadCache(int)");
    EXPECT_EQ(box["flat"], 6 << 20);
    EXPECT_EQ(box["cum_text"], "6MB");
  }
  EXPECT_EQ(Get(&host, "/api/v1/graph?nodes=1")["boxes"].size(), 1u);
  EXPECT_EQ(host.Get("/api/v1/graph?nodes=501").status, 400);
}

// A host that was not told to reads no files, whatever the program says its sources are.
TEST(Api, ShowsFiguresOfLinesAndReadsNothingUnlessTheHostAllowsIt) {
  OneProcess host;
  const json answer = Get(&host, "/api/v1/source?of=LoadCache");
  EXPECT_EQ(answer["may_read"], false);
  const json& chosen = answer["chosen"];
  EXPECT_EQ(chosen["file"], "cache.cc");
  EXPECT_EQ(chosen["found"], false);
  EXPECT_EQ(chosen["lines"].size(), 0u);
  ASSERT_EQ(chosen["costs"].size(), 1u);
  EXPECT_EQ(chosen["costs"][0]["line"], 42);
  EXPECT_EQ(chosen["costs"][0]["flat"], 6 << 20);
  EXPECT_EQ(chosen["costs"][0]["flat_text"], "6MB");
  EXPECT_EQ(Get(&host, "/api/v1/source?file=cache.cc")["chosen"], chosen);
  for (const std::string& word : testing::HostileWords()) {
    EXPECT_TRUE(Get(&host, "/api/v1/source?file=" + word)["chosen"].is_null()) << word;
  }
}

TEST(Api, ComparesWithAnotherMoment) {
  OneProcess host;
  host.process->has_peak = true;
  host.process->peak = testing::MakeHeapProfile();
  host.process->peak.value(0, kInuseSpace) = 16 << 20;
  const json answer = Get(&host, "/api/v1/diff?base-peak=1");
  EXPECT_EQ(answer["total"]["change"]["value"], -(10 << 20));
  ASSERT_EQ(answer["changes"].size(), 1u);
  EXPECT_EQ(answer["changes"][0]["function"], "Server::LoadCache(int)");
  EXPECT_EQ(answer["changes"][0]["kind"], "shrunk");
  EXPECT_EQ(Get(&host, "/api/v1/diff?base-hold=a&hold=a")["change_count"], 0);
}

TEST(Api, ChangesAProcessOnlyByPostAndOnlyForItsOwnPages) {
  OneProcess host;
  EXPECT_EQ(Parsed(host.Post("/api/v1/control?action=disable"))["seen"], true);
  EXPECT_FALSE(host.process->facts.active);
  EXPECT_EQ(host.Post("/api/v1/control?action=sample&bytes=64K").status, 200);
  EXPECT_EQ(host.process->facts.interval, 64u << 10);
  EXPECT_EQ(host.Post("/api/v1/control?action=reset&pid=4242").status, 200);
  EXPECT_EQ(host.process->resets, 1);
  EXPECT_EQ(host.Get("/api/v1/control?action=enable").status, 405);
  EXPECT_EQ(host.Post("/api/v1/control?action=enable", {{"Sec-Fetch-Site", "cross-site"}}).status,
            403);
  EXPECT_FALSE(host.process->facts.active);
  EXPECT_EQ(host.Post("/api/v1/control?action=explode").status, 400);
  EXPECT_EQ(host.Post("/api/v1/control?action=sample&bytes=x").status, 400);
  EXPECT_EQ(host.Post("/api/v1/control?action=enable&what=1").status, 400);
  EXPECT_EQ(host.Post("/api/v1/control?action=enable&pid=7").status, 404);
  host.process->control_error = "it does not run any more";
  EXPECT_EQ(host.Post("/api/v1/control?action=enable").status, 409);
}

TEST(Api, WritesFilesForOtherTools) {
  OneProcess host;
  const Response proto = host.Get("/api/v1/export?format=pprof&focus=Read");
  ASSERT_EQ(proto.status, 200) << proto.body;
  EXPECT_EQ(proto.Header("Content-Disposition"), "attachment; filename=\"server-4242.pb.gz\"");
  const auto profile = testing::ReadBody(proto);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(profile->DefaultType()).value, 2 << 20);
  EXPECT_EQ(host.Get("/api/v1/export").body, host.Get("/api/v1/export?format=pprof").body);
  const Response stacks = host.Get("/api/v1/export?format=collapsed&sort=allocated");
  EXPECT_NE(stacks.body.find("main;Server::LoadCache "), std::string::npos) << stacks.body;
  for (const ExportFormat& format : ExportFormats()) {
    const Response response = host.Get("/api/v1/export?format=" + std::string(format.name));
    EXPECT_EQ(response.status, 200) << format.name << response.body;
    EXPECT_EQ(response.Header("Content-Type"), format.media_type);
    EXPECT_GT(response.body.size(), 50u) << format.name;
  }
  EXPECT_EQ(host.Get("/api/v1/export?format=exe").status, 400);
  EXPECT_EQ(host.Get("/api/v1/export?what=1").status, 400);
  EXPECT_EQ(host.Get("/api/v1/export?focus=(").status, 400);
  EXPECT_EQ(host.Get("/api/v1/export", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(host.Post("/api/v1/export").status, 405);
}

TEST(Api, SaysSoWhereThereIsNoSql) {
  OneProcess host;
  EXPECT_EQ(host.Get("/api/v1/query?sql=SELECT%201").status, 409);
  EXPECT_EQ(host.Get("/api/v1/query?sql=SELECT%201&seconds=0").status, 400);
  EXPECT_EQ(Parsed(host.Post("/api/v1/cancel?run=a"))["ended"], false);
  EXPECT_EQ(host.Post("/api/v1/cancel").status, 400);
  EXPECT_EQ(host.Post("/api/v1/cancel?run=a&sql=b").status, 400);
  EXPECT_EQ(host.Get("/api/v1/cancel?run=a").status, 405);
  EXPECT_EQ(host.Post("/api/v1/cancel?run=a", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
}

TEST(Api, KeepsOneSnapshotForThoseWhoAskForIt) {
  OneProcess host;
  Get(&host, "/api/v1/summary?hold=a");
  Get(&host, "/api/v1/flame?hold=a");
  Get(&host, "/api/v1/table?hold=a");
  EXPECT_EQ(host.process->taken, 1);
  Get(&host, "/api/v1/summary?hold=b");
  EXPECT_EQ(host.process->taken, 2);
  Get(&host, "/api/v1/summary");
  Get(&host, "/api/v1/summary");
  EXPECT_EQ(host.process->taken, 4);
}

TEST(Api, RefusesWhatItDoesNotKnowInOneLine) {
  OneProcess host;
  for (const char* target :
       {"/api/v1/flame?what=1", "/api/v1/flame?depth=0", "/api/v1/flame?depth=x",
        "/api/v1/flame?callers=2", "/api/v1/flame?root=%3Cscript%3E", "/api/v1/flame?root=AAAA",
        "/api/v1/flame?focus=(", "/api/v1/flame?sort=size", "/api/v1/flame?at=2s",
        "/api/v1/flame?value=left", "/api/v1/flame?value=nothing", "/api/v1/flame?min-size=x",
        "/api/v1/table?rows=-1", "/api/v1/table?granularity=words", "/api/v1/flame?focus=a&focus=b",
        "/api/v1/timeline?from=x", "/api/v1/lifetimes", "/api/v1/flame?type=none",
        "/api/v1/flame?blocks=yes"}) {
    const Response response = host.Get(target);
    EXPECT_EQ(response.status, 400) << target << response.body;
    const json answer = Parsed(response);
    EXPECT_TRUE(answer["error"].is_string());
    EXPECT_EQ(answer["error"].get<std::string>().find('\n'), std::string::npos);
    EXPECT_FALSE(answer["error"].get<std::string>().starts_with("--")) << answer;
  }
  EXPECT_EQ(host.Get("/api/v1/flame?source=none").status, 404);
  EXPECT_EQ(host.Get("/api/v1/nothing").status, 404);
  EXPECT_EQ(host.Post("/api/v1/flame").status, 405);
}

TEST(Api, AnswersNoPageOfAnotherSite) {
  OneProcess host;
  EXPECT_EQ(host.Get("/api/v1/summary", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(host.Get("/api/v1/summary", {{"Sec-Fetch-Site", "same-origin"}}).status, 200);
}

TEST(Api, SaysSoIfTheProcessCannotBeRead) {
  OneProcess host;
  host.process->error = "the file is gone";
  for (const Resource* resource : AllResources()) {
    if (resource == &kQueryResource || resource == &kLifetimesResource) continue;
    if (resource == &kLeaksResource || resource == &kLeakResource) continue;  // leaks_test.cc
    const Response response = host.Get("/" + std::string(resource->path));
    if (resource == &kSourcesResource || resource == &kProcessesResource ||
        resource == &kSnapshotsResource) {
      EXPECT_EQ(response.status, 200);
    } else {
      EXPECT_GE(response.status, 400) << resource->path;
      EXPECT_EQ(Parsed(response)["error"], "the file is gone") << resource->path;
    }
  }
}

TEST(Api, NamesOfAnyKindStayText) {
  heapgauge::testing::Maker m;
  const std::string name = "<script>alert(\"1\")</script>\xff\xfe";
  m.Row({m.Function(name), m.Function(std::string(10'000, 'x'))}, 100);
  m.profile().default_type = kInuseSpace;
  OneProcess host;
  host.process->profile = m.profile();
  const json flame = Get(&host, "/api/v1/flame?names=whole");
  EXPECT_EQ(flame["nodes"]["value"].size(), 3u);
  EXPECT_TRUE(flame["names"][1]["label"].get<std::string>().starts_with("<script>"));
}

TEST(Api, AnEmptyProfileIsNoError) {
  OneProcess host;
  host.process->profile = Profile();
  host.process->profile.sample_types = HeapSampleTypes();
  EXPECT_EQ(Get(&host, "/api/v1/flame")["value"], 0);
  EXPECT_EQ(Get(&host, "/api/v1/table")["rows"].size(), 0u);
  EXPECT_EQ(Get(&host, "/api/v1/summary")["stacks"], 0);
}

TEST(Cancel, IsKnownByItsRouteAndMethod) {
  const auto is_cancel = [](const std::string& method, const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    return endpoint::IsCancel(request);
  };
  EXPECT_TRUE(is_cancel("POST", "/api/v1/cancel"));
  EXPECT_TRUE(is_cancel("POST", "/pid/4242/api/v1/cancel"));
  EXPECT_TRUE(is_cancel("POST", "/mounted/api/v1/c%61ncel"));
  EXPECT_FALSE(is_cancel("GET", "/api/v1/cancel"));
  EXPECT_FALSE(is_cancel("POST", "/api/v1/control"));
  EXPECT_FALSE(is_cancel("POST", "/api/v1/cancel/../control"));
  EXPECT_FALSE(is_cancel("POST", "/"));
}

// Notes what it is told to end.
class NotedQueries final : public Queries {
 public:
  Result<Answer> Run(Source*, const std::shared_ptr<const Profile>&, const Statement&) override {
    return Answer{};
  }
  Result<Schema> SchemaOf(Source*, const std::shared_ptr<const Profile>&) override {
    return Schema{};
  }
  bool Cancel(const std::string& run) override {
    ended += run + " ";
    return run == "known";
  }
  void EndAll() override {}
  std::string ended;
};

TEST(Cancel, TellsWhetherThereWasSomethingToEnd) {
  const auto processes =
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{});
  const auto queries = std::make_shared<NotedQueries>();
  Endpoint endpoint(processes, std::make_shared<Sources>(processes, queries), {});
  const auto cancel = [&](const std::string& words) {
    return testing::AskAt(&endpoint, "POST", "/api/v1/cancel?" + words);
  };
  EXPECT_EQ(Parsed(cancel("run=known"))["ended"], true);
  EXPECT_EQ(Parsed(cancel("run=another"))["ended"], false);
  EXPECT_EQ(cancel("run=").status, 400);
  EXPECT_EQ(queries->ended, "known another ");
}

TEST(Steps, AreReadAgainAsTheyWereWritten) {
  const Step step = (Step{1} << 36) - 2;
  const auto read = StepsOf(StepText(step) + StepText(7));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<Step>{step, 7}));
  EXPECT_FALSE(StepsOf("AAAAA"));
  EXPECT_FALSE(StepsOf("AAAA A"));
}

}  // namespace
}  // namespace heapgauge::endpoint::api
