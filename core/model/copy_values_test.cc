#include "core/model/profile.h"

#include <gtest/gtest.h>

#include "core/base/sinks.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

std::string Written(const Profile& profile) {
  StringSink sink;
  EXPECT_TRUE(WritePprof(profile, {}, &sink));
  return sink.Take();
}

TEST(CopyOfValues, HasAllButWhatStandsBehindThem) {
  testing::Maker maker;
  const auto main_ = maker.Function("main", 7);
  maker.Row({maker.Function("Load(int)", 42), main_}, 100, 300);
  maker.Row({main_}, 10, 10);
  Profile profile = maker.profile();
  profile.comments = {"made by hand"};
  profile.drop_frames = "malloc";
  profile.keep_frames = "Load";
  profile.doc_url = "http://localhost/";
  profile.period_type = {"space", "bytes"};
  profile.period = 512;
  profile.time_ns = 5;
  profile.duration_ns = 6;
  profile.default_type = 1;
  profile.recording.program = "/usr/bin/server";
  profile.strings = {"thread", "one"};
  profile.labels.push_back({0, 1, kNone, 0});
  profile.label_sets.push_back({0, 1});
  profile.rows[0].labels = 0;
  profile.estimates.resize(profile.values.size());
  profile.blocks.push_back({0, 0, 0, 5, 1, 0, false});
  profile.timeline.resize(1);
  profile.notes = {"one"};
  const Profile copy = CopyOfValues(profile);
  ASSERT_TRUE(copy.Check());
  EXPECT_EQ(Written(copy), Written(profile));
  EXPECT_EQ(copy.recording.program, "/usr/bin/server");
  EXPECT_TRUE(copy.estimates.empty());
  EXPECT_TRUE(copy.blocks.empty());
  EXPECT_TRUE(copy.timeline.empty());
  EXPECT_TRUE(copy.notes.empty());
}

}  // namespace
}  // namespace heapgauge
