#include "core/formats/speedscope/speedscope_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

TEST(SpeedscopeWriter, WritesAProfileForEachSampleTypeWithSharedFrames) {
  Maker m;
  const auto main = m.Function("main", 3, "main.cc");
  const auto f = m.Function("f \"quoted\"");
  m.Row({f, main}, 100, 250);
  m.Row({main}, 0, 50);
  const Profile& p = m.profile();
  SpeedscopeOptions options;
  for (const Frame& frame : p.frames) {
    options.frame_names.push_back(p.functions[frame.function].name);
  }
  options.shown = kInuseSpace;
  options.exporter = "a test";
  StringSink sink;
  ASSERT_TRUE(WriteSpeedscope(p, options, &sink));
  const auto json = nlohmann::json::parse(sink.text());
  EXPECT_EQ(json["activeProfileIndex"], kInuseSpace);
  ASSERT_EQ(json["profiles"].size(), 4u);
  const auto& live = json["profiles"][kInuseSpace];
  EXPECT_EQ(live["type"], "sampled");
  EXPECT_EQ(live["unit"], "bytes");
  EXPECT_EQ(live["endValue"], 100);
  EXPECT_EQ(live["weights"], nlohmann::json::array({100}));
  ASSERT_EQ(live["samples"].size(), 1u);
  const auto& frames = json["shared"]["frames"];
  EXPECT_EQ(frames[live["samples"][0][0].get<size_t>()]["name"], "main");
  EXPECT_EQ(frames[live["samples"][0][1].get<size_t>()]["name"], "f \"quoted\"");
  EXPECT_EQ(json["profiles"][kAllocSpace]["weights"], nlohmann::json::array({250, 50}));
}

}  // namespace
}  // namespace heapgauge
