#include "core/model/stack_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace heapgauge {
namespace {

using Stack = std::vector<LocationId>;

Profile WithLocations(size_t count) {
  Profile profile;
  profile.locations.resize(count);
  return profile;
}

Stack StackAt(const Profile& profile, NodeId leaf) {
  Stack stack;
  for (NodeId node = leaf; node != kNone; node = profile.nodes[node].parent) {
    stack.push_back(profile.nodes[node].location);
  }
  return stack;
}

TEST(StackBuilder, EqualStacksHaveOneLeaf) {
  Profile profile = WithLocations(4);
  StackBuilder builder(&profile);
  const NodeId leaf = builder.Leaf(Stack{3, 2, 1});
  EXPECT_EQ(builder.Leaf(Stack{3, 2, 1}), leaf);
  EXPECT_NE(builder.Leaf(Stack{2, 1}), leaf);
  EXPECT_EQ(profile.nodes.size(), 3u) << "a stack within another needs nothing of its own";
  EXPECT_EQ(builder.Leaf(Stack{}), kNone);
}

TEST(StackBuilder, ManyStacksComeBackAsTheyWere) {
  std::mt19937 random(7);
  Profile profile = WithLocations(50);
  std::map<Stack, NodeId> leaves;
  for (int round = 0; round < 2; ++round) {
    StackBuilder builder(&profile);  // the second one begins with what the first made
    for (int i = 0; i < 20000; ++i) {
      Stack stack(random() % 8);
      for (LocationId& location : stack) location = static_cast<LocationId>(random() % 50);
      const NodeId leaf = builder.Leaf(stack);
      const auto [it, is_new] = leaves.try_emplace(stack, leaf);
      ASSERT_EQ(it->second, leaf);
    }
  }
  for (const auto& [stack, leaf] : leaves) ASSERT_EQ(StackAt(profile, leaf), stack);
  EXPECT_TRUE(profile.Check());
}

}  // namespace
}  // namespace heapgauge
