#include "core/formats/collapsed/collapsed.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

std::string Written(const Profile& p, size_t type, const std::vector<bool>& selected,
                    bool join = false) {
  std::vector<std::string> names;
  for (const Frame& frame : p.frames) names.push_back(p.functions[frame.function].name);
  StringSink sink;
  EXPECT_TRUE(WriteCollapsed(p, type, selected, names, join, &sink));
  return sink.Take();
}

TEST(CollapsedWriter, MergesEqualStacksAndSorts) {
  Profile p;
  p.sample_types = HeapSampleTypes();
  p.functions = {{"main", "", ""}, {"a;b", "", ""}, {"inlined", "", ""}};
  p.frames = {{0, 1, false}, {2, 2, true}, {1, 3, false}};
  p.locations.resize(2);
  p.locations[0] = {1, kNone, false, 0, 1};
  p.locations[1] = {2, kNone, false, 1, 2};
  p.nodes = {{kNone, 0}, {0, 1}, {0, 1}};
  p.rows.resize(5);
  p.rows[0].leaf = 1;
  p.rows[1].leaf = 2;
  p.rows[2].leaf = 0;
  p.rows[2].truncated = true;
  p.rows[3].leaf = 0;
  p.values.resize(5 * kHeapTypes);
  for (RowId row = 0; row < 5; ++row) p.value(row, kInuseSpace) = 10 * (row + 1);
  p.value(3, kInuseSpace) = 0;
  EXPECT_EQ(Written(p, kInuseSpace, {}),
            "(truncated);main 30\n"
            "(unknown stack) 50\n"
            "main;a:b;inlined 30\n");
  EXPECT_EQ(Written(p, kInuseSpace, {true, false, false, false, false}), "main;a:b;inlined 10\n");
  EXPECT_EQ(Written(p, kAllocSpace, {}), "");
}

TEST(CollapsedWriter, WritesCallersBeforeWhatTheyCallAndJoinsNeighbours) {
  Profile p;
  p.sample_types = {{"samples", "count"}};
  p.functions = {{"a", "", ""}, {"b", "", ""}};
  p.frames = {{0, 1, false}, {1, 1, false}};
  p.locations.resize(2);
  p.locations[0] = {1, kNone, false, 0, 1};
  p.locations[1] = {2, kNone, false, 1, 1};
  p.nodes = {{kNone, 0}, {0, 0}, {1, 1}};  // a, a;a, a;a;b
  p.rows.resize(3);
  for (RowId row = 0; row < 3; ++row) p.rows[row].leaf = row;
  p.values = {1, 2, 4};
  EXPECT_EQ(Written(p, 0, {}), "a 1\na;a 2\na;a;b 4\n");
  EXPECT_EQ(Written(p, 0, {}, true), "a 3\na;b 4\n");
}

}  // namespace
}  // namespace heapgauge
