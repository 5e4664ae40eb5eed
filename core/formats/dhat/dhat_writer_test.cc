#include "core/formats/dhat/dhat_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/dhat/dhat_reader.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge {
namespace {

using nlohmann::json;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;

// What DHAT's viewer demands of a file.
void CheckFile(const json& file) {
  for (const char* name : {"dhatFileVersion", "mode", "verb", "bklt", "bkacc", "tu", "Mtu", "cmd",
                           "pid", "te", "pps", "ftbl"}) {
    EXPECT_TRUE(file.contains(name)) << name;
  }
  EXPECT_EQ(file["dhatFileVersion"], 2);
  if (file["bklt"]) {
    EXPECT_TRUE(file.contains("tg"));
    EXPECT_TRUE(file.contains("tuth"));
  }
  ASSERT_FALSE(file["ftbl"].empty());
  EXPECT_EQ(file["ftbl"][0], "[root]");
  for (const json& point : file["pps"]) {
    EXPECT_GT(point["tbk"].get<uint64_t>(), 0u);
    for (const char* name : {"tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"}) {
      EXPECT_EQ(point.contains(name), file["bklt"].get<bool>()) << name;
    }
    if (file["bklt"]) {
      EXPECT_LE(point["mb"], point["tb"]);
      EXPECT_LE(point["gb"], point["mb"]);
      EXPECT_LE(point["eb"], point["mb"]);
    }
    EXPECT_EQ(point.contains("rb"), file["bkacc"].get<bool>());
    EXPECT_FALSE(point["fs"].empty());
    for (const json& frame : point["fs"]) {
      EXPECT_GT(frame.get<size_t>(), 0u);
      EXPECT_LT(frame.get<size_t>(), file["ftbl"].size());
    }
  }
}

json Written(const trace::TraceFile& file) {
  const auto stacks = file.ReadStacks();
  EXPECT_TRUE(stacks);
  StringSink sink;
  const Status done = WriteDhat(file, **stacks, nullptr, &sink);
  EXPECT_TRUE(done) << done.error().message;
  return json::parse(sink.text());
}

uint64_t Sum(const json& file, const char* name) {
  uint64_t sum = 0;
  for (const json& point : file["pps"]) sum += point[name].get<uint64_t>();
  return sum;
}

TEST(DhatWriter, WritesTotalsPeaksAndLifetimesOfATrace) {
  MakeTrace made;
  const uint32_t a = made.Stack({"A", "main"});
  const uint32_t b = made.Stack({"B \"quoted\"", "main"});
  const uint64_t one = made.Allocate(1'000, 0, 100, a);
  const uint64_t two = made.Allocate(2'000, 0, 50, a);
  made.Free(4'500, two);
  const uint64_t three = made.Allocate(5'000, 0, 200, b);
  made.Map(5'500, 0, 8192, b);
  made.Free(8'600, one);
  made.Reallocate(9'000, three, 20, b);
  made.Allocate(21'000, 0, 1, a);
  const json file = Written(*made.Open());
  CheckFile(file);
  EXPECT_EQ(file["te"], 21);
  EXPECT_EQ(file["tg"], 5);
  EXPECT_EQ(file["cmd"], "program");
  EXPECT_EQ(file["pid"], 4242);
  ASSERT_EQ(file["pps"].size(), 2u);
  const json& first = file["pps"][0];
  EXPECT_EQ(first["tb"], 151);
  EXPECT_EQ(first["tbk"], 3);
  EXPECT_EQ(first["tl"], 10) << "2.5 µs and 7.6 µs";
  EXPECT_EQ(first["mb"], 150);
  EXPECT_EQ(first["mbk"], 2);
  EXPECT_EQ(first["gb"], 100);
  EXPECT_EQ(first["gbk"], 1);
  EXPECT_EQ(first["eb"], 1);
  EXPECT_EQ(first["ebk"], 1);
  const json& second = file["pps"][1];
  EXPECT_EQ(second["tb"], 220);
  EXPECT_EQ(second["tl"], 4 + 12);
  EXPECT_EQ(second["gb"], 200);
  EXPECT_EQ(second["eb"], 20);
  EXPECT_EQ(file["ftbl"][second["fs"][0].get<size_t>()], "0x1000002F: B \"quoted\" (made.cc:1)");
  EXPECT_EQ(file["ftbl"][second["fs"][1].get<size_t>()], "0x1000000F: main (made.cc:1)");
}

TEST(DhatWriter, AgreesWithTheBlocksOfALongerTrace) {
  MakeTrace made;
  RandomTrace how;
  how.events = 8000;
  AddRandomEvents(how, &made);
  const json file = Written(*made.Open());
  CheckFile(file);
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t live = 0;
  double lifetimes = 0;
  for (const trace::Block& block : made.blocks()) {
    if (block.is_mapping) continue;
    ++blocks;
    bytes += block.size;
    if (block.is_live()) live += block.size;
    lifetimes += static_cast<double>(block.lifetime_ns(made.end_ns())) / 1000;
  }
  EXPECT_EQ(Sum(file, "tb"), bytes);
  EXPECT_EQ(Sum(file, "tbk"), blocks);
  EXPECT_EQ(Sum(file, "eb"), live);
  EXPECT_EQ(Sum(file, "gb"), made.Peak().first);
  EXPECT_EQ(file["tg"], made.Peak().second / 1000);
  EXPECT_NEAR(static_cast<double>(Sum(file, "tl")), lifetimes, 50.0);
}

TEST(DhatWriter, GivesBackWhatWasReadFromDhat) {
  const std::string text = R"json({"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true
,"bkacc":true,"tu":"instrs","Mtu":"Minstr","tuth":500,"cmd":"./p -x","pid":77,"te":100,"tg":50,"pps":
[{"tb":10,"tbk":9,"tl":8,"mb":7,"mbk":6,"gb":5,"gbk":4,"eb":3,"ebk":2,"rb":1,"wb":11,"fs":[1,2,3]}]
,"ftbl":["[root]","0x9: ??? (in /x)","0x10: f (a.rs:3:4)","0x10: main (p.cc:10)"]})json";
  const auto profile = ReadDhat(StreamOf(text).get(), "x");
  ASSERT_TRUE(profile) << profile.error().message;
  StringSink sink;
  ASSERT_TRUE(WriteDhat(*profile, {}, &sink));
  const json file = json::parse(sink.text());
  CheckFile(file);
  const json before = json::parse(text);
  EXPECT_EQ(file["pps"][0], before["pps"][0]);
  EXPECT_EQ(file["ftbl"], before["ftbl"]);
  EXPECT_EQ(file["tu"], "instrs");
  EXPECT_EQ(file["cmd"], "./p -x");
}

TEST(DhatWriter, WritesOneTypeOfAnyOtherProfile) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  profile.rows.resize(3);
  profile.values = {9, 900, 3, 101, 5, 50, 0, 0, 0, 0, 0, 0};
  StringSink sink;
  ASSERT_TRUE(WriteDhat(profile, DhatProfileOptions(), &sink));
  json file = json::parse(sink.text());
  CheckFile(file);
  EXPECT_EQ(file["pps"].size(), 2u);
  EXPECT_EQ(Sum(file, "tb"), 950u);
  EXPECT_EQ(Sum(file, "tbk"), 14u);
  EXPECT_EQ(file["bklt"], false);

  DhatProfileOptions options;
  options.type = kInuseSpace;
  StringSink live;
  ASSERT_TRUE(WriteDhat(profile, options, &live));
  file = json::parse(live.text());
  CheckFile(file);
  EXPECT_EQ(Sum(file, "tb"), 101u);
  EXPECT_EQ(Sum(file, "tbk"), 3u);
  EXPECT_EQ(file["mode"], "heap, inuse_space");

  EXPECT_FALSE(WriteDhat(Profile(), DhatProfileOptions(), &live));
}

}  // namespace
}  // namespace heapgauge
