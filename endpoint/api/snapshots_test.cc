#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "endpoint/api/api.h"
#include "endpoint/api/process_source.h"
#include "endpoint/api/sources.h"
#include "endpoint/testing/ask.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::OneProcess;

json Answered(const Response& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  json parsed = json::parse(response.body, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << response.body.substr(0, 200);
  return parsed;
}
json Asked(OneProcess* host, const std::string& target) { return Answered(host->Get(target)); }

std::string TakeNew(OneProcess* host) {
  // Two that ask for the same profile share one; each of these is another.
  host->process->profile.time_ns += 1'000'000'000;
  return Answered(host->Post("/api/v1/snapshots?source=4242"))["id"];
}

TEST(Snapshots, StayAsTheyWereWhileTheProcessGoesOn) {
  OneProcess host;
  EXPECT_EQ(Asked(&host, "/api/v1/snapshots")["snapshots"].size(), 0u);
  const std::string id = TakeNew(&host);
  host.process->profile.value(0, kInuseSpace) = 60 << 20;
  const json list = Asked(&host, "/api/v1/snapshots");
  EXPECT_EQ(list["most"], 32);
  ASSERT_EQ(list["snapshots"].size(), 1u);
  EXPECT_EQ(list["snapshots"][0]["id"], id);
  EXPECT_EQ(list["snapshots"][0]["pid"], 4242);
  EXPECT_EQ(list["snapshots"][0]["live_bytes"]["value"], 8 << 20);
  const json summary = Asked(&host, "/api/v1/summary?source=" + id);
  EXPECT_EQ(summary["total"]["live_bytes"]["value"], 8 << 20);
  EXPECT_EQ(summary["source"]["live"], false);
  EXPECT_EQ(summary["source"]["taken_unix_ns"], list["snapshots"][0]["taken_unix_ns"]);
  EXPECT_EQ(summary["recording"]["program"], "/usr/bin/server");
  EXPECT_EQ(Asked(&host, "/api/v1/summary?source=4242")["total"]["live_bytes"]["value"], 62 << 20);
}

TEST(Snapshots, AreSourcesOfEveryResource) {
  OneProcess host;
  const std::string id = TakeNew(&host);
  for (const Resource* resource : AllResources()) {
    const Response response =
        host.Get("/" + std::string(resource->path) + "?source=" + id + "&hold=x");
    // There is no SQL here; and what only a trace knows is refused in words.
    EXPECT_TRUE(response.status == 200 || response.status == 400 || response.status == 409)
        << resource->path << response.body;
    EXPECT_EQ(response.body.find("not kept"), std::string::npos) << resource->path;
  }
  const json sources = Asked(&host, "/api/v1/sources?source=" + id);
  EXPECT_EQ(sources["chosen"], id);
  EXPECT_EQ(sources["sources"].size(), 2u);
  EXPECT_EQ(sources["sources"][1]["id"], id);
}

TEST(Snapshots, HaveTheFiguresOfTheProcess) {
  OneProcess host;
  const std::string id = TakeNew(&host);
  const json live = Asked(&host, "/api/v1/table?source=4242");
  const json kept = Asked(&host, "/api/v1/table?source=" + id);
  EXPECT_EQ(live["total"]["live_bytes"]["value"], kept["total"]["live_bytes"]["value"]);
  ASSERT_GE(live["rows"].size(), 2u);
  EXPECT_EQ(live["rows"][0]["flat"]["live_bytes"]["value"],
            kept["rows"][0]["flat"]["live_bytes"]["value"]);
  EXPECT_EQ(live["rows"][0]["label"], kept["rows"][0]["label"]);
}

TEST(Snapshots, AreComparedWithEachOtherAndWithNow) {
  OneProcess host;
  const std::string old = TakeNew(&host);
  host.process->profile.value(1, kInuseSpace) = 5 << 20;
  const std::string later = TakeNew(&host);
  host.process->profile.value(1, kInuseSpace) = 7 << 20;
  const auto change = [&](const std::string& words) {
    return Asked(&host, "/api/v1/diff?" + words)["total"]["change"]["value"].get<double>() /
           (1 << 20);
  };
  EXPECT_EQ(change("base=" + old + "&source=" + later), 3);
  EXPECT_EQ(change("base=" + later + "&source=" + old), -3);
  EXPECT_EQ(change("base=" + later + "&source=4242"), 2);
}

TEST(Snapshots, ThatAreGoneAreSaidToBe) {
  Limits limits;
  limits.kept_profiles = 2;
  OneProcess host(limits);
  const std::string first = TakeNew(&host);
  Asked(&host, "/api/v1/summary?source=" + first);
  TakeNew(&host);
  TakeNew(&host);
  for (const std::string& id : {first, std::string("snapshot-"), std::string("snapshot-..%2f")}) {
    const Response gone = host.Get("/api/v1/summary?source=" + id);
    EXPECT_EQ(gone.status, 404);
    EXPECT_NE(gone.body.find("is not kept any more: the last 2 of each process"), std::string::npos)
        << gone.body;
  }
  EXPECT_EQ(Asked(&host, "/api/v1/snapshots?source=4242")["snapshots"].size(), 2u);
}

TEST(Snapshots, AreThoseOfTheHotspotsPages) {
  OneProcess host;
  const std::string id = TakeNew(&host);
  const std::string kept = id.substr(id.find('-') + 1);
  EXPECT_EQ(host.Get("/hotspots/heap?view=" + kept).status, 200);
  host.process->profile.time_ns += 1;
  const Response page = host.Get("/hotspots/growth");
  const std::string growth = "snapshot-" + std::string(page.Header("X-Heapgauge-View"));
  const json list = Asked(&host, "/api/v1/snapshots")["snapshots"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["id"], growth);
  EXPECT_EQ(list[0]["type"], "growth");
  EXPECT_EQ(Asked(&host, "/api/v1/summary?source=" + growth)["stacks"], 3);
}

TEST(Snapshots, AreTakenOnlyOfProcessesAndOnlyForOwnPages) {
  OneProcess host;
  EXPECT_EQ(host.Post("/api/v1/snapshots?source=4242", {{"Sec-Fetch-Site", "cross-site"}}).status,
            403);
  EXPECT_EQ(host.Post("/api/v1/snapshots?source=none").status, 404);
  EXPECT_EQ(host.Post("/api/v1/snapshots?what=1").status, 400);
  const std::string id = TakeNew(&host);
  // Again, of the process that it was taken of.
  host.process->profile.value(0, kInuseSpace) = 1 << 20;
  const json again = Answered(host.Post("/api/v1/snapshots?source=" + id));
  EXPECT_NE(again["id"], id);
  EXPECT_EQ(again["live_bytes"]["value"], 3 << 20);
  host.process->error = "the file is gone";
  EXPECT_EQ(host.Post("/api/v1/snapshots?source=4242").status, 409);
  EXPECT_EQ(host.Get("/api/v1/summary?source=" + id).status, 200);
}

TEST(Processes, SayWhetherTheyMayBeChanged) {
  OneProcess host;
  json process = Asked(&host, "/api/v1/processes")["processes"][0];
  EXPECT_EQ(process["source"], "4242");
  EXPECT_EQ(process["may_change"], true);
  EXPECT_EQ(process["may_dump"], true);
  host.process->control_error = "it belongs to another user";
  host.process->dump_error = "there is no directory for dumps";
  process = Asked(&host, "/api/v1/processes")["processes"][0];
  EXPECT_EQ(process["may_change"], false);
  EXPECT_EQ(process["why_no_change"], "it belongs to another user");
  EXPECT_EQ(process["may_dump"], false);
  EXPECT_EQ(process["why_no_dump"], "there is no directory for dumps");
}

TEST(Processes, TellHowFastTheyAllocate) {
  OneProcess host;
  EXPECT_FALSE(Asked(&host, "/api/v1/processes")["processes"][0].contains("allocation_rate"));
  for (uint64_t second = 1; second <= 30; ++second) {
    TimelinePoint point;
    point.time_ns = second * 1'000'000'000;
    // Slowly at first; the last ten seconds count.
    point.allocated_bytes = second < 20 ? second : 20 + (second - 20) * 1000;
    host.process->profile.timeline.push_back(point);
  }
  EXPECT_EQ(Asked(&host, "/api/v1/processes")["processes"][0]["allocation_rate"], 1000);
  // After a reset it begins again.
  host.process->profile.timeline.back().allocated_bytes = 1;
  EXPECT_FALSE(Asked(&host, "/api/v1/processes")["processes"][0].contains("allocation_rate"));
}

// Whatever else runs on this machine.
TEST(SourcesOfAHost, ThatWereGivenByNameComeFirst) {
  const auto process = std::make_shared<testing::FakeProcess>(4242);
  const auto processes =
      std::make_shared<testing::FakeProcesses>(std::vector<std::shared_ptr<Process>>{process});
  const auto sources = std::make_shared<Sources>(processes);
  sources->Add(std::make_shared<ProfileSource>(testing::MakeHeapProfile(), "old.pb.gz"));
  sources->Add(std::make_shared<ProcessSource>(process, "server.4242.hg"));
  Endpoint endpoint(processes, sources, {});
  const auto chosen = [&](const std::string& path) {
    Request request;
    request.method = "GET";
    request.path = path;
    return Answered(testing::HandleAndWait(&endpoint, request))["chosen"].get<std::string>();
  };
  EXPECT_EQ(chosen("/api/v1/sources"), "old.pb.gz");
  EXPECT_EQ(chosen("/pid/4242/api/v1/sources"), "server.4242.hg");
}

TEST(Dumps, AreSourcesAndDoNotHideTheProcess) {
  OneProcess host;
  host.process->dump = std::make_shared<testing::FakeProcess>(4242);
  host.process->dump->facts.state = RecordingState::kSnapshot;
  host.process->profile.value(0, kInuseSpace) = 1 << 20;
  const json first = Answered(host.Post("/api/v1/control?action=dump"));
  EXPECT_EQ(first["source"], "server.4242.0001.hg");
  const json second = Answered(host.Post("/api/v1/control?action=dump"));
  EXPECT_EQ(second["source"], "server.4242.0001.hg-2");
  EXPECT_EQ(Asked(&host, "/api/v1/sources")["sources"].size(), 3u);
  EXPECT_EQ(Asked(&host, "/api/v1/sources")["chosen"], "4242");
  EXPECT_EQ(
      Asked(&host, "/api/v1/summary?source=server.4242.0001.hg")["total"]["live_bytes"]["value"],
      8 << 20);
  EXPECT_EQ(Asked(&host, "/api/v1/summary?source=4242")["total"]["live_bytes"]["value"], 3 << 20);
  for (size_t i = 0; i < Sources::kMostDumps; ++i) host.Post("/api/v1/control?action=dump");
  EXPECT_EQ(Asked(&host, "/api/v1/sources")["sources"].size(), 1 + Sources::kMostDumps);
}

}  // namespace
}  // namespace heapgauge::endpoint::api
