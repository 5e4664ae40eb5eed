#include "core/model/profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace heapgauge {
namespace {

Profile TwoFrames() {
  Profile p;
  p.sample_types = HeapSampleTypes();
  p.modules.resize(1);
  p.functions.resize(1);
  p.frames.push_back({0, 1, false});
  Location location;
  location.module = 0;
  location.frame_count = 1;
  p.locations.assign(2, location);
  p.nodes = {{kNone, 1}, {0, 0}};
  Row row;
  row.leaf = 1;
  p.rows.push_back(row);
  p.values.resize(kHeapTypes);
  p.value(0, kInuseSpace) = 5;
  p.estimates.resize(kHeapTypes);
  p.estimates[kInuseSpace].value = 5;
  p.blocks.push_back({0, 0, 0, 5, 1, 0, false});
  return p;
}

TEST(Profile, StacksAreReadInnermostFirst) {
  const Profile p = TwoFrames();
  ASSERT_TRUE(p.Check());
  std::vector<LocationId> stack;
  p.StackOf(0, &stack);
  EXPECT_EQ(stack, (std::vector<LocationId>{0, 1}));
  EXPECT_EQ(p.Total(kInuseSpace).value, 5);
  EXPECT_EQ(p.FindType("alloc_space"), static_cast<size_t>(kAllocSpace));
  EXPECT_EQ(p.FindType("cpu"), p.sample_types.size());
}

TEST(Recording, IsCalledAsItWasStarted) {
  RecordingFacts r;
  r.program = "/usr/sbin/nginx";
  EXPECT_EQ(r.name(), "nginx");
  r.command_line = {"/opt/web server/bin/front", "-c", "x"};
  EXPECT_EQ(r.name(), "front");
  r.command_line = {"-bash"};
  EXPECT_EQ(r.name(), "bash");
  r.command_line = {"nginx: master process nginx -c /etc/nginx/nginx.conf"};
  EXPECT_EQ(r.name(), "nginx");
  r.command_line = {"/usr/lib/postgresql/15/bin/postgres: wal/writer "};
  EXPECT_EQ(r.name(), "postgres");
}

TEST(Recording, HasItsCommandInOneLine) {
  RecordingFacts r;
  EXPECT_EQ(r.command(), "");
  r.command_line = {"server", "--name", "a b", "", "x"};
  EXPECT_EQ(r.command(), "server --name a b  x");
  r.command_line = {"postgres: t [local] idle  ", "", "", ""};
  EXPECT_EQ(r.command(), "postgres: t [local] idle");
}

TEST(Profile, CheckFindsEveryBrokenReference) {
  const std::pair<const char*, std::function<void(Profile*)>> cases[] = {
      {"location", [](Profile* p) { p->nodes[0].location = 9; }},
      {"parent", [](Profile* p) { p->nodes[0].parent = 1; }},
      {"module", [](Profile* p) { p->locations[0].module = 9; }},
      {"frame", [](Profile* p) { p->locations[0].frame_count = 9; }},
      {"function", [](Profile* p) { p->frames[0].function = 9; }},
      {"node", [](Profile* p) { p->rows[0].leaf = 9; }},
      {"row", [](Profile* p) { p->blocks[0].row = 9; }},
      {"match", [](Profile* p) { p->values.pop_back(); }},
      {"match", [](Profile* p) { p->estimates.pop_back(); }},
      {"labels", [](Profile* p) { p->rows[0].labels = 9; }},
      {"labels",
       [](Profile* p) {
         p->label_sets.push_back({0, 1});
       }},
      {"label",
       [](Profile* p) {
         p->labels.push_back({0, kNone, kNone, 1});
       }},
      {"number", [](Profile* p) { p->estimates[0].variance = -1; }},
      {"number", [](Profile* p) { p->estimates[0].value = NAN; }},
  };
  for (const auto& [says, damage] : cases) {
    Profile p = TwoFrames();
    damage(&p);
    const auto status = p.Check();
    ASSERT_FALSE(status) << says;
    EXPECT_NE(status.error().message.find(says), std::string::npos) << status.error().message;
  }
}

TEST(Estimate, SumsKeepTheLargestStep) {
  Estimate sum{10, 4, 2, 8};
  sum.Add({5, 1, 3, 1});
  EXPECT_EQ(sum.value, 15);
  EXPECT_EQ(sum.variance, 5);
  EXPECT_EQ(sum.step, 3);
  EXPECT_EQ(sum.floor, 9);
}

}  // namespace
}  // namespace heapgauge
