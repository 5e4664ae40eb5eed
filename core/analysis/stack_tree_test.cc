#include "core/analysis/stack_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "core/analysis/call_tree.h"
#include "core/analysis/pruned_tree.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

std::vector<double> LiveBytes(const Profile& profile) {
  std::vector<double> values;
  for (const HeapFigures& f : FiguresOfRows(profile)) values.push_back(f.live_bytes.value);
  return values;
}

std::string NameOf(const Profile& profile, const Entities& entities, EntityId id) {
  return id == kNone ? "?" : profile.functions[entities[id].function].name;
}

// "main/f" to what it holds.
using Paths = std::map<std::string, double>;

Paths PathsOf(const Profile& profile, const Entities& entities,
              const std::vector<StackTree::Node>& nodes) {
  Paths paths;
  std::vector<std::string> names(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    names[i] = names[nodes[i].parent] + "/" + NameOf(profile, entities, nodes[i].entity);
    paths[names[i]] += nodes[i].value;
  }
  return paths;
}

Paths PathsOfCallTree(const Profile& profile, const Entities& entities, bool callers) {
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  const std::vector<bool> all(profile.rows.size(), true);
  const CallTree tree =
      callers ? BuildCallersTree(profile, entities, all, LiveBytes(profile), {0, 1'000'000, 0})
              : BuildCallTree(profile, entities, all);
  PruneOptions prune;
  prune.max_nodes = 1'000'000;
  const PrunedTree pruned = Prune(tree, figures, prune);
  Paths paths;
  std::vector<std::string> names(pruned.nodes.size());
  for (size_t i = 1; i < pruned.nodes.size(); ++i) {
    const EntityId entity = tree.nodes[pruned.nodes[i].in_tree].entity;
    names[i] = names[pruned.nodes[i].parent] + "/" + NameOf(profile, entities, entity);
    paths[names[i]] += pruned.nodes[i].figures.live_bytes.value;
  }
  return paths;
}

// Stacks of a dozen functions, some inlined into others, that call each other and themselves.
Profile RandomProfile(uint32_t seed) {
  std::mt19937 random(seed);
  Maker m;
  std::vector<LocationId> locations{m.Function("malloc"),
                                    m.Function("operator new(unsigned long)")};
  for (int i = 0; i < 8; ++i) locations.push_back(m.Function("f" + std::to_string(i % 6)));
  for (int i = 0; i < 4; ++i) {
    const LocationId id = m.Function(i % 2 == 0 ? "malloc" : "f" + std::to_string(i));
    m.InlinedInto(id, "f" + std::to_string(i));
    if (i > 1) m.InlinedInto(id, "g" + std::to_string(i));
    locations.push_back(id);
  }
  for (int row = 0; row < 60; ++row) {
    std::vector<LocationId> stack;
    const size_t depth = random() % 9;
    for (size_t i = 0; i < depth; ++i) stack.push_back(locations[random() % locations.size()]);
    m.Row(stack, static_cast<double>(random() % 1000));
  }
  return m.profile();
}

TEST(StackTree, HasTheNodesAndFiguresOfTheCallTree) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Profile profile = RandomProfile(seed);
    for (const Granularity granularity : {Granularity::kFunctions, Granularity::kFiles}) {
      const Entities entities(profile, granularity);
      for (const bool callers : {false, true}) {
        const StackTree tree(profile, entities, LiveBytes(profile), callers);
        const StackTree::View view = tree.Look({});
        ASSERT_TRUE(view.found);
        EXPECT_FALSE(view.cut);
        ASSERT_EQ(PathsOf(profile, entities, view.nodes),
                  PathsOfCallTree(profile, entities, callers))
            << "seed " << seed << " callers " << callers;
      }
    }
  }
}

TEST(StackTree, ShowsTheSameBelowAnyNode) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Profile profile = RandomProfile(seed);
    const Entities entities(profile, Granularity::kFunctions);
    for (const bool callers : {false, true}) {
      const StackTree tree(profile, entities, LiveBytes(profile), callers);
      const std::vector<StackTree::Node> all = tree.Look({}).nodes;
      const std::vector<double> values = LiveBytes(profile);
      for (size_t i = 0; i < all.size(); ++i) {
        std::vector<Step> path;
        for (uint32_t at = static_cast<uint32_t>(i); all[at].parent != kNone; at = all[at].parent) {
          path.insert(path.begin(), StepOf(profile, entities, all[at].entity));
        }
        const StackTree::View view = tree.Look({path, 100, 0, 1000});
        ASSERT_TRUE(view.found);
        EXPECT_EQ(view.path.size(), path.size() + 1);
        ASSERT_EQ(view.nodes[0].value, all[i].value);
        EXPECT_EQ(view.nodes[0].self, all[i].self);
        size_t below = 0;
        for (size_t j = i; j < all.size() && (j == i || all[j].depth > all[i].depth); ++j) ++below;
        EXPECT_EQ(view.nodes.size(), below);
        double sum = 0;
        const std::vector<bool> rows = tree.RowsBelow(path);
        for (RowId row = 0; row < rows.size(); ++row) sum += rows[row] ? values[row] : 0;
        EXPECT_EQ(sum, all[i].value) << "seed " << seed << " node " << i << " callers " << callers;
      }
    }
  }
}

TEST(StackTree, LeavesOutWhatIsTooThinTooDeepOrTooMuch) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto h = m.Function("h");
  const auto main_ = m.Function("main");
  m.Row({f, main_}, 100);
  m.Row({g, f, main_}, 10);
  m.Row({h, main_}, 1);
  const Entities entities(m.profile(), Granularity::kFunctions);
  const StackTree tree(m.profile(), entities, LiveBytes(m.profile()), false);
  const auto drawn = [&](const StackTree::Question& question) {
    std::string text;
    for (const StackTree::Node& node : tree.Look(question).nodes) {
      text += NameOf(m.profile(), entities, node.entity) + " ";
    }
    return text;
  };
  EXPECT_EQ(drawn({}), "? main f g h ");
  EXPECT_EQ(drawn({{}, 100, 5, 1000}), "? main f g ");
  EXPECT_EQ(drawn({{}, 2, 0, 1000}), "? main f h ");
  EXPECT_EQ(drawn({{}, 100, 0, 3}), "? main f ");
  EXPECT_TRUE(tree.Look({{}, 100, 0, 3}).cut);
  EXPECT_EQ(tree.total(), 111);
}

TEST(StackTree, SaysHowFarAPathGoesThatDoesNotExist) {
  Maker m;
  const auto f = m.Function("f");
  const auto main_ = m.Function("main");
  m.Row({f, main_}, 100);
  const Entities entities(m.profile(), Granularity::kFunctions);
  const StackTree tree(m.profile(), entities, LiveBytes(m.profile()), false);
  const Step to_main = StepOf(m.profile(), entities, entities.Of(main_, 0));
  const StackTree::View view = tree.Look({{to_main, to_main ^ 1}, 100, 0, 1000});
  EXPECT_FALSE(view.found);
  EXPECT_EQ(view.path.size(), 2u);
  EXPECT_TRUE(view.nodes.empty());
  EXPECT_EQ(tree.RowsBelow({to_main, to_main ^ 1}), std::vector<bool>(1, false));
}

TEST(StackTree, OfNothingIsARoot) {
  const Profile empty;
  const Entities entities(empty, Granularity::kFunctions);
  for (const bool callers : {false, true}) {
    const StackTree tree(empty, entities, {}, callers);
    EXPECT_EQ(tree.Look({}).nodes.size(), 1u);
    EXPECT_EQ(tree.total(), 0);
  }
}

}  // namespace
}  // namespace heapgauge
