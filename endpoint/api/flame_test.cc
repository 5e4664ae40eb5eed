// Trees of calls in all their shapes: from some functions on, compared, without recursion.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/model/testing/profile_maker.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::api {
namespace {

using heapgauge::testing::Maker;
using nlohmann::json;
using testing::OneProcess;

json Asked(OneProcess* host, const std::string& target) {
  const Response response = host->Get(target);
  EXPECT_EQ(response.status, 200) << target << ": " << response.body;
  return json::parse(response.body, nullptr, false);
}

std::string Number(const json& value) { return std::to_string(value.get<int64_t>()); }

// A node in a line: ".f 8", with what was before and after where two are compared: ".f 8 (2>8)".
std::string Outline(const json& flame) {
  const json& nodes = flame["nodes"];
  std::vector<size_t> depth(nodes["parent"].size());
  std::string text;
  for (size_t i = 0; i < depth.size(); ++i) {
    if (i > 0) depth[i] = depth[nodes["parent"][i].get<size_t>()] + 1;
    const bool all = i == 0 && flame["path"].back()["name"].is_null();
    text += std::string(depth[i], '.');
    text +=
        all ? "all" : flame["names"][nodes["name"][i].get<size_t>()]["label"].get<std::string>();
    text += " " + Number(nodes["value"][i]);
    if (nodes.contains("before")) {
      text += " (" + Number(nodes["before"][i]) + ">" + Number(nodes["after"][i]) + ")";
    }
    text += "\n";
  }
  return text;
}

// main calls parse, which calls itself by way of list; and parse calls text.
struct Recursive {
  Recursive() {
    Maker m;
    const auto main_ = m.Function("main");
    const auto parse = m.Function("parse");
    const auto list = m.Function("list");
    const auto text = m.Function("text");
    m.Row({text, parse, list, parse, main_}, 8);
    m.Row({text, parse, main_}, 4);
    m.Row({list, parse, main_}, 2);
    m.Row({text, main_}, 1);
    host.process->profile = m.profile();
    host.process->profile.default_type = kInuseSpace;
    host.process->facts.interval = host.process->facts.interval_in_force = 1;
  }
  OneProcess host;
};

TEST(Flame, ShowsWhoCallsAFunctionAndWhatItCalls) {
  Recursive r;
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?through=^parse$")),
            "parse 14\n.list 10\n..parse 8\n...text 8\n.text 4\n");
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?through=^parse$&callers=1")),
            "parse 14\n.main 14\n");
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?through=^text$&callers=1")),
            "text 13\n.parse 12\n..list 8\n...parse 8\n....main 8\n..main 4\n.main 1\n");
  // Of several the outermost one counts.
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?through=^(list|text)$")),
            "all 15\n.parse 8\n..text 8\n");
  const json none = Asked(&r.host, "/api/v1/flame?through=nobody");
  EXPECT_EQ(Outline(none), "all 0\n");
  EXPECT_EQ(none["found"], true);
}

TEST(Flame, TellsFiguresOfACallBelowAFunction) {
  Recursive r;
  const json flame = Asked(&r.host, "/api/v1/flame?through=^text$&callers=1");
  const std::string parse = flame["names"][flame["nodes"]["name"][1].get<size_t>()]["step"];
  const json frame = Asked(&r.host, "/api/v1/frame?through=^text$&callers=1&root=" + parse);
  EXPECT_EQ(frame["function"], "parse");
  EXPECT_EQ(frame["figures"]["live_bytes"]["value"], 12);
  EXPECT_EQ(frame["stack"].size(), 2u);
  EXPECT_EQ(Asked(&r.host, "/api/v1/frame?through=^text$")["figures"]["live_bytes"]["value"], 13);
}

TEST(Flame, LeavesOutCallsOfAFunctionByItself) {
  Recursive r;
  for (const char* pattern : {"^parse$", "."}) {
    EXPECT_EQ(Outline(Asked(&r.host, std::string("/api/v1/flame?collapse=") + pattern)),
              "all 15\n.main 15\n..parse 14\n...text 12\n...list 2\n..text 1\n");
  }
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?collapse=.&callers=1")),
            "all 15\n.text 13\n..parse 12\n...main 12\n..main 1\n.list 2\n..parse 2\n...main 2\n");
  EXPECT_EQ(Outline(Asked(&r.host, "/api/v1/flame?collapse=.&through=^parse$&focus=list")),
            "parse 10\n.text 8\n.list 2\n");
}

TEST(Flame, ComparesWithAnotherMoment) {
  OneProcess host;
  host.process->has_peak = true;
  Maker m;
  const auto main_ = m.Function("main", 11, "main.cc", m.Module("/usr/bin/server"));
  const auto load = m.Function("Server::LoadCache(int)", 43, "cache.cc", 0);
  m.Row({m.Function("Server::Gone()", 1, "gone.cc", 0), main_}, 3 << 20);
  m.Row({load, main_}, 1 << 20);
  m.Row({load, main_}, 1 << 20);
  host.process->peak = m.profile();
  host.process->peak.default_type = kInuseSpace;
  const json flame = Asked(&host, "/api/v1/flame?base-peak=1");
  const auto mib = [](int n) { return std::to_string(n << 20); };
  const auto line = [&](const std::string& name, int value, int before, int after) {
    return name + " " + mib(value) + " (" + mib(before) + ">" + mib(after) + ")\n";
  };
  EXPECT_EQ(Outline(flame),
            line("all", 11, 5, 8) + line(".main", 11, 5, 8) + line("..Server::LoadCache", 6, 2, 6) +
                line("..Server::Gone", 3, 3, 0) + line("..Server::ReadRequest", 2, 0, 2));
  const json diff = Asked(&host, "/api/v1/diff?base-peak=1");
  EXPECT_EQ(flame["compared"]["before"], diff["total"]["before"]["value"]);
  EXPECT_EQ(flame["compared"]["after"], diff["total"]["after"]["value"]);
  EXPECT_EQ(flame["compared"]["profiles"].size(), 2u);
  const std::string main_step = flame["names"][flame["nodes"]["name"][1].get<size_t>()]["step"];
  const json frame = Asked(&host, "/api/v1/frame?base-peak=1&root=" + main_step);
  EXPECT_EQ(frame["before"], 5 << 20);
  EXPECT_EQ(frame["after"], 8 << 20);
  EXPECT_EQ(frame["figures"]["live_bytes"]["value"], 8 << 20);
  // With itself: nothing changed.
  const json same = Asked(&host, "/api/v1/flame?hold=a&base-hold=a&through=LoadCache");
  EXPECT_EQ(Outline(same), line("Server::LoadCache", 6, 6, 6));
}

TEST(Flame, RefusesWhatIsNoExpression) {
  OneProcess host;
  for (const char* words : {"through=(", "collapse=(", "base=nothing", "base-at=x"}) {
    const Response response = host.Get(std::string("/api/v1/flame?") + words);
    EXPECT_TRUE(response.status == 400 || response.status == 404) << words << response.body;
    EXPECT_TRUE(json::parse(response.body)["error"].is_string());
  }
}

}  // namespace
}  // namespace heapgauge::endpoint::api
