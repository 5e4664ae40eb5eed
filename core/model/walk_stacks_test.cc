#include "core/model/stacks.h"

#include <gtest/gtest.h>

#include <random>

namespace heapgauge {
namespace {

// Stacks of many depths that share parts of each other, and some empty ones.
Profile RandomProfile(uint32_t rows) {
  Profile profile;
  profile.locations.resize(50);
  StackBuilder builder(&profile);
  std::mt19937 random(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    std::vector<LocationId> stack(random() % 60);
    for (LocationId& location : stack) location = static_cast<LocationId>(random() % 3 + i % 5);
    Row row;
    row.leaf = builder.Leaf(stack);
    profile.rows.push_back(row);
  }
  return profile;
}

TEST(WalkStacks, VisitsEveryStackInOrder) {
  for (const uint32_t rows : {0u, 1u, 15u, 16u, 17u, 1000u}) {
    const Profile profile = RandomProfile(rows);
    size_t next = 0;
    std::vector<LocationId> expected;
    WalkStacks(
        profile.nodes, 0, rows, [&](size_t row) { return profile.rows[row].leaf; },
        [&](size_t row, const std::vector<LocationId>& stack) {
          ASSERT_EQ(row, next++);
          profile.StackOf(static_cast<RowId>(row), &expected);
          ASSERT_EQ(stack, expected) << "row " << row << " of " << rows;
        });
    EXPECT_EQ(next, rows);
  }
}

TEST(WalkStacks, VisitsAPart) {
  const Profile profile = RandomProfile(100);
  std::vector<size_t> visited;
  WalkStacks(
      profile.nodes, 90, 95, [&](size_t) { return kNone; },
      [&](size_t row, const std::vector<LocationId>& stack) {
        visited.push_back(row);
        EXPECT_TRUE(stack.empty());
      });
  EXPECT_EQ(visited, (std::vector<size_t>{90, 91, 92, 93, 94}));
}

}  // namespace
}  // namespace heapgauge
