#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "endpoint/testing/fake_checker.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::CheckedProcess;
using testing::MakeLeakCheck;
using testing::OneProcess;

json Parsed(const Response& response, int status = 200) {
  EXPECT_EQ(response.status, status) << response.body;
  json parsed = json::parse(response.body, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << response.body.substr(0, 200);
  return parsed;
}

// "definite 3000+120 Session::Open" of each record.
std::string Records(const json& leaks) {
  std::string text;
  for (const json& record : leaks["records"]) {
    text += record["kind"].get<std::string>() + " " + std::to_string(record["bytes"].get<int>()) +
            "+" + std::to_string(record["indirect_bytes"].get<int>()) + " " +
            record["name"].get<std::string>() + "\n";
  }
  return text;
}

TEST(Leaks, OfAProcessAreThoseOfItsLastCheck) {
  CheckedProcess host;
  // The fake process has no file that could tell anything.
  EXPECT_EQ(host.Get("/api/v1/leaks").status, 409);
  const json done = Parsed(host.Post("/api/v1/leaks/check?source=4242"));
  EXPECT_EQ(done["number"], 1);
  EXPECT_EQ(done["pause_ns"], 3'000'000);
  EXPECT_TRUE(done["verdict"].get<std::string>().find("leaks: 3.0 kB in 6 blocks") !=
              std::string::npos)
      << done;
  const json leaks = Parsed(host.Get("/api/v1/leaks?source=4242"));
  EXPECT_EQ(Records(leaks),
            "reachable 5000+0 Cache::Insert\ndefinite 3000+120 Session::Open\n"
            "indirect 120+0 Name::Copy\n");
  EXPECT_EQ(leaks["summary"]["definite"]["bytes"], 3000);
  EXPECT_EQ(leaks["check"]["look"], "copy");
  EXPECT_EQ(leaks["number"], 1);
  EXPECT_EQ(leaks["may_look"], true);
  EXPECT_TRUE(leaks["since"].is_null());
  const json& suspects = leaks["suspects"]["suspected"];
  ASSERT_EQ(suspects.size(), 2u);
  EXPECT_EQ(suspects[0]["function"], "Session::Open");
  EXPECT_EQ(suspects[0]["record"], leaks["records"][1]["key"]);
  double lost = 0;
  for (const json& part : suspects[0]["ages"]["lost_bytes"]) lost += part.get<double>();
  EXPECT_EQ(lost, 3000);
  EXPECT_EQ(host.checker->looks, 1);
}

TEST(Leaks, AreChosenByKindAndFunction) {
  CheckedProcess host;
  Parsed(host.Post("/api/v1/leaks/check"));
  const auto records = [&](const std::string& words) {
    return Records(Parsed(host.Get("/api/v1/leaks?" + words)));
  };
  EXPECT_EQ(records("kinds=definite"), "definite 3000+120 Session::Open\n");
  EXPECT_EQ(records("kinds=indirect,reachable"),
            "reachable 5000+0 Cache::Insert\nindirect 120+0 Name::Copy\n");
  EXPECT_EQ(records("focus=Session"),
            "definite 3000+120 Session::Open\nindirect 120+0 Name::Copy\n");
  EXPECT_EQ(records("focus=Session&ignore=Name"), "definite 3000+120 Session::Open\n");
  const json one = Parsed(host.Get("/api/v1/leaks?rows=1"));
  EXPECT_EQ(one["records"].size(), 1u);
  EXPECT_EQ(one["record_count"], 3);
  // The figure that other views show does not matter.
  EXPECT_EQ(records("kinds=definite&value=lost&blocks=1"), "definite 3000+120 Session::Open\n");
  for (const char* words : {"kinds=all", "focus=(", "changes=some", "rows=5000", "since=x", "at=2s",
                            "from=1s", "peak=1", "what=1", "min-size=4K"}) {
    EXPECT_EQ(host.Get("/api/v1/leaks?" + std::string(words)).status, 400) << words;
  }
}

TEST(Leaks, SampledAmountsHaveTheirRange) {
  CheckedProcess host;
  host.checker->check = MakeLeakCheck(50, 20);
  Parsed(host.Post("/api/v1/leaks/check"));
  const json leaks = Parsed(host.Get("/api/v1/leaks"));
  const json& definite = leaks["summary"]["definite"];
  EXPECT_EQ(definite["bytes"], 1'000'000);
  EXPECT_LT(definite["bytes_low"], 1'000'000);
  EXPECT_GT(definite["bytes_high"], 1'000'000);
  EXPECT_EQ(definite["sampled_blocks"], 20);
  EXPECT_EQ(leaks["summary"]["errors"], 1) << "what is possibly lost is no error of a sampled one";
}

TEST(Leaks, ARecordHasNoLineOfAnotherFunction) {
  CheckedProcess host;
  for (Function& function : host.checker->check.known.profile.functions) {
    if (function.name.starts_with("Session::Open")) function.file.clear();
  }
  Parsed(host.Post("/api/v1/leaks/check"));
  const json record = Parsed(host.Get("/api/v1/leaks?kinds=definite"))["records"][0];
  EXPECT_EQ(record["name"], "Session::Open");
  EXPECT_EQ(record["place"], "");
}

TEST(Leaks, ARecordTellsItsOwnerAndWhatSilencesIt) {
  CheckedProcess host;
  Parsed(host.Post("/api/v1/leaks/check"));
  const json leaks = Parsed(host.Get("/api/v1/leaks"));
  const auto details = [&](size_t record) {
    return Parsed(host.Get("/api/v1/leaks/record?record=" +
                           leaks["records"][record]["key"].get<std::string>()));
  };
  const json cache = details(0);
  EXPECT_EQ(cache["record"]["name"], "Cache::Insert");
  ASSERT_EQ(cache["owner"]["path"].size(), 1u);
  EXPECT_EQ(cache["owner"]["path"][0]["place"], "data of /opt/app/bin/server at 0x8010");
  EXPECT_EQ(cache["owner"]["roots"][0]["blocks_known"], 1);
  const json session = details(1);
  EXPECT_EQ(session["owner"]["path"].size(), 0u);
  EXPECT_EQ(session["record"]["place"], "server.cc:11") << "of Session::Open, not of malloc";
  EXPECT_EQ(session["record"]["stack"].size(), 3u);
  EXPECT_NE(session["suppressions"]["valgrind"].get<std::string>().find("Memcheck:Leak"),
            std::string::npos);
  EXPECT_TRUE(session["suppressions"]["lsan"].get<std::string>().starts_with("leak:"));
  double bytes = 0;
  for (const json& part : session["ages"]["bytes"]) bytes += part.get<double>();
  EXPECT_EQ(bytes, 3000);
  EXPECT_EQ(host.Get("/api/v1/leaks/record?record=definite-0000000000000000").status, 404);
  EXPECT_EQ(host.Get("/api/v1/leaks/record?record=%3Cscript%3E").status, 404);
  EXPECT_EQ(host.Get("/api/v1/leaks/record").status, 404);
}

TEST(Leaks, AreComparedWithEarlierChecks) {
  CheckedProcess host;
  for (const int lost : {1, 3, 7}) {
    host.checker->check = MakeLeakCheck(1, lost);
    host.checker->check.unix_ns += static_cast<uint64_t>(lost) * 1'000'000'000;
    Parsed(host.Post("/api/v1/leaks/check"));
  }
  const json leaks = Parsed(host.Get("/api/v1/leaks"));
  EXPECT_EQ(leaks["since"], 2);
  EXPECT_EQ(leaks["earlier"].size(), 2u);
  EXPECT_EQ(leaks["summary"]["changes"]["definite"]["bytes"], 4000);
  const json first = Parsed(host.Get("/api/v1/leaks?since=1&changes=increased"));
  EXPECT_EQ(first["summary"]["changes"]["definite"]["bytes"], 6000);
  EXPECT_EQ(Records(first), "definite 7000+280 Session::Open\nindirect 280+0 Name::Copy\n");
  EXPECT_EQ(Parsed(host.Get("/api/v1/leaks?changes=new"))["record_count"], 0);
  EXPECT_EQ(host.Get("/api/v1/leaks?since=9").status, 404);
}

TEST(Leaks, RulesSilenceThem) {
  CheckedProcess host;
  ASSERT_TRUE(host.checker->rules.AddText("leak:Session::Open\n", "known.supp"));
  Parsed(host.Post("/api/v1/leaks/check"));
  const json leaks = Parsed(host.Get("/api/v1/leaks?kinds=suppressed"));
  EXPECT_EQ(leaks["summary"]["definite"]["bytes"], 0);
  EXPECT_EQ(leaks["summary"]["suppressed"]["bytes"], 3120);
  EXPECT_EQ(leaks["record_count"], 2);
}

TEST(Leaks, OnlyAPostOfAPageOfOursLooksAtMemory) {
  CheckedProcess host;
  EXPECT_EQ(host.Get("/api/v1/leaks/check").status, 405);
  EXPECT_EQ(host.Post("/api/v1/leaks/check", {{"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(host.Post("/api/v1/leaks/check?source=none").status, 404);
  EXPECT_EQ(host.Post("/api/v1/leaks/check?what=1").status, 400);
  EXPECT_EQ(host.checker->looks, 0);
  host.checker->error = "process 4242 may not be traced";
  EXPECT_EQ(Parsed(host.Post("/api/v1/leaks/check"), 403)["error"],
            "process 4242 may not be traced");
  host.process->facts.state = RecordingState::kEnded;
  EXPECT_EQ(host.Post("/api/v1/leaks/check").status, 409);
  EXPECT_EQ(host.checker->looks, 1);
}

TEST(Leaks, OneCheckAtATime) {
  CheckedProcess host;
  int status = 0;
  host.checker->meanwhile = [&] { status = host.Post("/api/v1/leaks/check").status; };
  Parsed(host.Post("/api/v1/leaks/check"));
  EXPECT_EQ(status, 409);
  EXPECT_EQ(host.checker->looks, 1);
}

TEST(Leaks, AHostInsideOfTheProgramDoesNotLook) {
  OneProcess host;
  const json answer = Parsed(host.Post("/api/v1/leaks/check"), 409);
  EXPECT_NE(answer["error"].get<std::string>().find("heapgauge leaks PID"), std::string::npos);
}

TEST(Leaks, WhatIsLostIsAFigureOfOtherViews) {
  CheckedProcess host;
  EXPECT_EQ(host.Get("/api/v1/flame?value=lost").status, 400);
  const size_t others = Parsed(host.Get("/api/v1/summary"))["choices"].size();
  Parsed(host.Post("/api/v1/leaks/check"));
  const json summary = Parsed(host.Get("/api/v1/summary"));
  ASSERT_EQ(summary["choices"].size(), others + 2);
  EXPECT_EQ(summary["choices"][others]["title"], "lost");
  const json flame = Parsed(host.Get("/api/v1/flame?value=lost"));
  EXPECT_EQ(flame["name"], "lost");
  EXPECT_EQ(flame["value"], 3120);
  EXPECT_EQ(Parsed(host.Get("/api/v1/flame?value=lost&blocks=1"))["value"], 6);
  EXPECT_EQ(Parsed(host.Get("/api/v1/flame?value=lost&focus=Name"))["value"], 120);
  EXPECT_EQ(Parsed(host.Get("/api/v1/table?value=lost"))["total"]["value"]["value"], 3120);
  EXPECT_EQ(host.Get("/api/v1/flame?value=lost&at=2s").status, 400);
  // The next check is another profile.
  host.checker->check = MakeLeakCheck(1, 4);
  Parsed(host.Post("/api/v1/leaks/check"));
  EXPECT_EQ(Parsed(host.Get("/api/v1/flame?value=lost"))["value"], 4160);
}

TEST(Leaks, StandOutInTheOverview) {
  CheckedProcess host;
  Parsed(host.Post("/api/v1/leaks/check"));
  const json finding = Parsed(host.Get("/api/v1/summary"))["findings"][0];
  EXPECT_EQ(finding["kind"], "leak");
  EXPECT_TRUE(finding["text"].get<std::string>().starts_with("Session::Open lost 2.9 kB"))
      << finding;
  EXPECT_EQ(finding["parameters"]["view"], "leaks");
  EXPECT_TRUE(finding["parameters"]["leak"].get<std::string>().starts_with("definite-"));
}

}  // namespace
}  // namespace heapgauge::endpoint::api
