// A small sampled profile with blocks, labels and a timeline. For tests.
#pragma once

#include "core/model/testing/profile_maker.h"

namespace heapgauge::query::testing {

inline Profile SampledProfile() {
  heapgauge::testing::Maker m;
  const auto main = m.Function("main");
  m.Row({m.Function("malloc"), m.Function("f(int)", 4), main}, 4000, 9000);
  m.Row({m.Function("g"), main}, 100, 100);
  Profile profile = m.profile();
  profile.recording.interval = 512;
  profile.recording.duration_ns = 1000;
  profile.blocks.push_back({0, 17, 0x1000, 2000, 512, 400, false});
  profile.blocks.push_back({1, 18, 0x2000, 100, 512, 900, true});
  TimelinePoint point;
  point.time_ns = 500;
  point.live_bytes = 3000;
  point.resident_bytes = 9999;
  profile.timeline.push_back(point);
  profile.strings = {"thread", "io"};
  profile.labels.push_back({0, 1, kNone, 0});
  profile.label_sets.push_back({0, 1});
  profile.rows[1].labels = 0;
  return profile;
}

}  // namespace heapgauge::query::testing
