#include "core/formats/collapsed/collapsed_writer.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

TEST(CollapsedWriter, MergesEqualStacksAndSorts) {
  Profile p;
  p.sample_types = HeapSampleTypes();
  p.functions = {{"main", "", ""}, {"a;b(int)", "", ""}, {"inlined", "", ""}};
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
  EXPECT_EQ(WriteCollapsed(p, kInuseSpace, {}),
            "(truncated);main 30\n"
            "(unknown stack) 50\n"
            "main;a:b;inlined 30\n");
  EXPECT_EQ(WriteCollapsed(p, kInuseSpace, {true, false, false, false, false}),
            "main;a:b;inlined 10\n");
  EXPECT_EQ(WriteCollapsed(p, kAllocSpace, {}), "");
}

}  // namespace
}  // namespace heapgauge
