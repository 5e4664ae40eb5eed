#include "core/model/stacks.h"

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

TEST(StackBuilder, ManyStacksAtOnceAreTheSameAsOneByOne) {
  std::mt19937 random(7);
  Profile profile = WithLocations(5);
  StackBuilder builder(&profile);
  std::vector<NodeId> leaves;
  for (int round = 0; round < 200; ++round) {
    std::vector<LocationId> locations;
    std::vector<size_t> ends;
    for (size_t i = 0; i < random() % 100; ++i) {
      for (size_t k = random() % 8; k > 0; --k) {
        locations.push_back(static_cast<LocationId>(random() % 5));
      }
      ends.push_back(locations.size());
    }
    builder.Leaves(locations, ends, &leaves);
    ASSERT_EQ(leaves.size(), ends.size());
    for (size_t i = 0; i < ends.size(); ++i) {
      const auto begin = locations.begin() + static_cast<ptrdiff_t>(i == 0 ? 0 : ends[i - 1]);
      const Stack stack(begin, locations.begin() + static_cast<ptrdiff_t>(ends[i]));
      ASSERT_EQ(StackAt(profile, leaves[i]), stack);
      ASSERT_EQ(builder.Leaf(stack), leaves[i]);
    }
  }
  EXPECT_TRUE(StackBuilder(&profile).distinct());
  EXPECT_TRUE(profile.Check());
}

TEST(StackBuilder, TellsWhetherTheNodesItBeganWithAreDistinct) {
  Profile profile = WithLocations(3);
  profile.nodes = {{kNone, 0}, {0, 1}, {0, 2}, {kNone, 1}};
  EXPECT_TRUE(StackBuilder(&profile).distinct());
  profile.nodes.push_back({0, 2});
  EXPECT_FALSE(StackBuilder(&profile).distinct()) << "one in the table twice";
  profile.nodes.back() = {0, 1};
  EXPECT_FALSE(StackBuilder(&profile).distinct()) << "one like the node behind its parent";
}

}  // namespace
}  // namespace heapgauge
