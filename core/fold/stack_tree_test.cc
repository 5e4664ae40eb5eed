#include "core/fold/stack_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "core/fold/call_tree.h"
#include "core/fold/frames.h"
#include "core/model/testing/profile_maker.h"
#include "core/model/testing/random_stacks.h"

namespace heapgauge {
namespace {

using testing::Maker;
using testing::RandomStacks;

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

TEST(StackTree, HasTheNodesAndFiguresOfTheCallTree) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Profile profile = RandomStacks(seed);
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
    const Profile profile = RandomStacks(seed);
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

TEST(StackTree, FollowsTheHeaviestCallsAlone) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto h = m.Function("h");
  const auto main_ = m.Function("main");
  m.Row({g, f, main_}, 100);
  m.Row({h, f, main_}, 10);
  m.Row({g, h, main_}, 60);
  const Entities entities(m.profile(), Granularity::kFunctions);
  const StackTree tree(m.profile(), entities, LiveBytes(m.profile()), false);
  StackTree::Question question;
  question.heaviest = true;
  question.last_level = true;
  std::string text;
  for (const StackTree::Node& node : tree.Look(question).nodes) {
    text += NameOf(m.profile(), entities, node.entity) + std::to_string(node.children) + " ";
  }
  EXPECT_EQ(text, "?1 main2 f2 g0 h0 h1 ");  // what the second h calls is not there
}

TEST(StackTree, OpensWhatIsAskedForAlone) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto h = m.Function("h");
  const auto main_ = m.Function("main");
  m.Row({g, f, main_}, 100);
  m.Row({g, h, main_}, 60);
  const Entities entities(m.profile(), Granularity::kFunctions);
  const StackTree tree(m.profile(), entities, LiveBytes(m.profile()), false);
  const auto step = [&](LocationId id) {
    return StepOf(m.profile(), entities, entities.Of(id, 0));
  };
  const auto drawn = [&](const StackTree::OpenPaths& open) {
    StackTree::Question question;
    question.open = &open;
    std::string text;
    for (const StackTree::Node& node : tree.Look(question).nodes) {
      text += NameOf(m.profile(), entities, node.entity) + " ";
    }
    return text;
  };
  EXPECT_EQ(drawn({{{}}}), "? main ");
  EXPECT_EQ(drawn({{{{step(main_), 1}}, {}}}), "? main f h ");
  EXPECT_EQ(drawn({{{{step(main_), 1}}, {{step(h), 2}, {step(g), 2}}, {}}}), "? main f h g ");
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

// The functions of a row from the outermost one inwards, without those that only allocate; direct
// calls of itself are one.
std::vector<EntityId> CallsOf(const Profile& profile, const Entities& entities, RowId row) {
  std::vector<EntityId> calls;
  FramePlace at = FlatFrame(profile, row, CountAllocationFrames(profile));
  while (at.node != kNone) {
    const LocationId location = profile.nodes[at.node].location;
    for (; at.k < profile.locations[location].frame_count; ++at.k) {
      const EntityId entity = entities.Of(location, at.k);
      if (calls.empty() || calls.back() != entity) calls.push_back(entity);
    }
    at = {profile.nodes[at.node].parent, 0};
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

TEST(StackTree, BeginsAtTheOutermostOfSomeFunctionsBothWays) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Profile profile = RandomStacks(seed);
    const Entities entities(profile, Granularity::kFunctions);
    const std::vector<double> values = LiveBytes(profile);
    std::vector<bool> through(entities.size());
    for (const EntityId id : {seed % 5, (seed / 5) % 7}) through[id % entities.size()] = true;
    for (const bool callers : {false, true}) {
      Paths expected;
      double total = 0;
      for (RowId row = 0; row < profile.rows.size(); ++row) {
        if (values[row] == 0) continue;
        std::vector<EntityId> calls = CallsOf(profile, entities, row);
        const auto center =
            std::find_if(calls.begin(), calls.end(), [&](EntityId id) { return through[id]; });
        if (center == calls.end()) continue;
        total += values[row];
        std::vector<EntityId> way(center + 1, calls.end());
        if (callers) way.assign(std::make_reverse_iterator(center), calls.rend());
        std::string path;
        for (const EntityId id : way) {
          path += "/" + NameOf(profile, entities, id);
          expected[path] += values[row];
        }
      }
      const StackTree tree(Groundwork(profile), entities, values, {callers, through});
      EXPECT_EQ(tree.total(), total);
      const StackTree::View view = tree.Look({});
      ASSERT_EQ(PathsOf(profile, entities, view.nodes), expected)
          << "seed " << seed << " callers " << callers;
      for (size_t i = 0; i < view.nodes.size(); ++i) {
        std::vector<Step> path;
        for (auto at = static_cast<uint32_t>(i); view.nodes[at].parent != kNone;
             at = view.nodes[at].parent) {
          path.insert(path.begin(), StepOf(profile, entities, view.nodes[at].entity));
        }
        const std::vector<bool> rows = tree.RowsBelow(path);
        double sum = 0;
        for (RowId row = 0; row < rows.size(); ++row) sum += rows[row] ? values[row] : 0;
        ASSERT_EQ(sum, view.nodes[i].value) << "seed " << seed << " node " << i;
      }
    }
  }
}

TEST(StackTree, AddsUpWhatWasBeforeAndAfter) {
  Maker m;
  const auto f = m.Function("f");
  const auto g = m.Function("g");
  const auto main_ = m.Function("main");
  m.Row({f, main_}, 100);
  m.Row({g, f, main_}, 10);
  m.Row({g, main_}, 4);
  const Entities entities(m.profile(), Granularity::kFunctions);
  const std::vector<StackTree::Sides> sides = {{30, 100}, {10, 0}, {4, 4}};
  const std::vector<bool> to_g = {false, true, false};
  const auto drawn = [&](bool callers, const std::vector<bool>& through) {
    const StackTree tree(Groundwork(m.profile()), entities, LiveBytes(m.profile()),
                         {callers, through, sides});
    std::string text;
    for (const StackTree::Node& node : tree.Look({}).nodes) {
      text += NameOf(m.profile(), entities, node.entity) + " " +
              std::to_string(static_cast<int>(node.before)) + ">" +
              std::to_string(static_cast<int>(node.after)) + " ";
    }
    return text;
  };
  EXPECT_EQ(drawn(false, {}), "? 44>104 main 44>104 f 40>100 g 10>0 g 4>4 ");
  EXPECT_EQ(drawn(true, {}), "? 44>104 f 30>100 main 30>100 g 14>4 f 10>0 main 10>0 main 4>4 ");
  EXPECT_EQ(drawn(true, to_g), "g 14>4 f 10>0 main 10>0 main 4>4 ");
}

}  // namespace
}  // namespace heapgauge
