#include "core/fold/call_tree.h"

#include <gtest/gtest.h>

#include "core/fold/functions.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

struct Grown {
  Entities entities;
  CallTree tree;
  PrunedTree pruned;
};

Grown Grow(const Profile& profile, const PruneOptions& prune = {}, bool callers = false) {
  Grown grown;
  grown.entities = Entities(profile, Granularity::kFunctions);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  const std::vector<bool> all(profile.rows.size(), true);
  std::vector<double> values;
  for (const HeapFigures& f : figures) values.push_back(f.live_bytes.value);
  grown.tree = callers ? BuildCallersTree(profile, grown.entities, all, values,
                                          {prune.least, prune.max_nodes, prune.depth})
                       : BuildCallTree(profile, grown.entities, all);
  grown.pruned = Prune(grown.tree, figures, prune);
  return grown;
}

// "main 110/f 100" for each node, the heaviest child first.
std::string Drawn(const Profile& profile, const Grown& grown) {
  std::string text;
  for (const PrunedTree::Node& node : grown.pruned.nodes) {
    if (node.parent == kNone) continue;
    const CallTree::Node& call = grown.tree.nodes[node.in_tree];
    text += std::string(node.depth - 1, '.');
    text +=
        call.entity == kNone ? "?" : profile.functions[grown.entities[call.entity].function].name;
    text += " " + std::to_string(static_cast<int>(node.figures.live_bytes.value));
    if (node.folded > 0) text += " +" + std::to_string(node.folded);
    text += "\n";
  }
  return text;
}

TEST(CallTree, GrowsFromTheCallersAndLeavesTheAllocatorOut) {
  Maker m;
  const auto malloc_ = m.Function("malloc");
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto main_ = m.Function("main");
  m.Row({malloc_, f, main_}, 10);
  m.Row({malloc_, g, f, main_}, 100);
  m.Row({malloc_, g, main_}, 5);
  m.Row({}, 1);
  EXPECT_EQ(Drawn(m.profile(), Grow(m.profile())), "main 115\n.f 110\n..g 100\n.g 5\n? 1\n");
  EXPECT_EQ(Drawn(m.profile(), Grow(m.profile(), {}, true)),
            "g 105\n.f 100\n..main 100\n.main 5\nf 10\n.main 10\n? 1\n");
}

TEST(CallTree, RecursionIsOneNodeAndCountsOnce) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto main_ = m.Function("main");
  m.Row({f, f, f, main_}, 10);
  m.Row({f, main_}, 1);
  m.Row({f, g, f, g, main_}, 100);
  const Grown grown = Grow(m.profile());
  EXPECT_EQ(Drawn(m.profile(), grown), "main 111\n.g 100\n..f 100\n...g 100\n....f 100\n.f 11\n");
  EXPECT_TRUE(grown.tree.nodes[grown.pruned.nodes.back().in_tree].recursive);
}

TEST(CallTree, CallersOfSmallBranchesAreNotFollowed) {
  Maker m;
  const auto main_ = m.Function("main");
  const auto serve = m.Function("serve");
  const auto f = m.Function("f");
  m.Row({f, f, serve, main_}, 100);
  m.Row({f, main_}, 1);
  for (int i = 0; i < 50; ++i) m.Row({m.Function("g" + std::to_string(i)), serve, main_}, 1);
  PruneOptions fold;
  fold.least = 0.05;
  const Grown grown = Grow(m.profile(), fold, true);
  EXPECT_EQ(Drawn(m.profile(), grown), "f 101 +1\n.serve 100\n..main 100\n");
  EXPECT_EQ(grown.pruned.nodes[0].folded, 50u);
  EXPECT_LT(grown.tree.nodes.size(), 60u);
  EXPECT_TRUE(grown.tree.nodes[grown.pruned.nodes[1].in_tree].recursive);
}

TEST(CallTree, InlinedFramesAreFrames) {
  Maker m;
  const auto inner = m.Function("inner");
  m.InlinedInto(inner, "outer");
  m.Row({inner, m.Function("main")}, 10);
  const Grown grown = Grow(m.profile());
  EXPECT_EQ(Drawn(m.profile(), grown), "main 10\n.outer 10\n..inner 10\n");
  EXPECT_TRUE(grown.tree.nodes[grown.pruned.nodes.back().in_tree].inlined);
  EXPECT_FALSE(grown.tree.nodes[grown.pruned.nodes[2].in_tree].inlined);
}

TEST(PrunedTree, NothingIsLostByFolding) {
  Maker m;
  const auto main_ = m.Function("main");
  for (int i = 0; i < 20; ++i) {
    m.Row({m.Function("leaf" + std::to_string(i)), main_}, i == 0 ? 100 : 1);
  }
  PruneOptions fold;
  fold.least = 0.05;
  Grown grown = Grow(m.profile(), fold);
  EXPECT_EQ(Drawn(m.profile(), grown), "main 119 +19\n.leaf0 100\n");
  EXPECT_EQ(grown.pruned.nodes[1].folded_figures.live_bytes.value, 19);
  EXPECT_EQ(grown.pruned.nodes[1].folded_value, 19);

  PruneOptions few;
  few.max_nodes = 4;  // with the root
  grown = Grow(m.profile(), few);
  EXPECT_EQ(grown.pruned.nodes.size(), 4u);
  EXPECT_EQ(grown.pruned.nodes[1].folded, 18u);

  PruneOptions shallow;
  shallow.depth = 1;
  EXPECT_EQ(Drawn(m.profile(), Grow(m.profile(), shallow)), "main 119 +20\n");
}

TEST(CallTree, AnEmptyProfileHasARoot) {
  Maker m;
  const Grown grown = Grow(m.profile());
  EXPECT_EQ(grown.pruned.nodes.size(), 1u);
}

}  // namespace
}  // namespace heapgauge
