#include "core/leaks/capture/process_roots.h"

#include <gtest/gtest.h>

namespace heapgauge::leaks {
namespace {

TEST(RootListTest, WhatWasFirstStays) {
  RootList list;
  list.Add({{100, 200}, RootKind::kStack, 1, 0});
  list.Add({{50, 300}, RootKind::kMapping, 0, 0});
  const auto roots = list.Finish();
  ASSERT_EQ(roots.size(), 3u);
  EXPECT_EQ(roots[0].range, (AddressRange{50, 100}));
  EXPECT_EQ(roots[0].kind, RootKind::kMapping);
  EXPECT_EQ(roots[1].range, (AddressRange{100, 200}));
  EXPECT_EQ(roots[1].kind, RootKind::kStack);
  EXPECT_EQ(roots[2].range, (AddressRange{200, 300}));
}

TEST(RootListTest, WhatIsExcludedIsNoRoot) {
  RootList list;
  list.Exclude({100, 200});
  list.Exclude({150, 160});
  list.Add({{150, 260}, RootKind::kData, 0, 3});
  const auto roots = list.Finish();
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(roots[0].range, (AddressRange{200, 260}));
  EXPECT_EQ(roots[0].object, 3u);
}

TEST(RootListTest, FreePartsAreBetweenTheOthers) {
  RootList list;
  list.Add({{10, 20}, RootKind::kData, 0, 0});
  list.Add({{30, 40}, RootKind::kData, 0, 0});
  EXPECT_EQ(list.Free({0, 50}), (std::vector<AddressRange>{{0, 10}, {20, 30}, {40, 50}}));
  EXPECT_EQ(list.Free({12, 18}), std::vector<AddressRange>{});
  EXPECT_EQ(list.Free({15, 35}), (std::vector<AddressRange>{{20, 30}}));
  EXPECT_EQ(list.Free({40, 41}), (std::vector<AddressRange>{{40, 41}}));
  EXPECT_EQ(list.Free({40, 40}), std::vector<AddressRange>{});
}

}  // namespace
}  // namespace heapgauge::leaks
