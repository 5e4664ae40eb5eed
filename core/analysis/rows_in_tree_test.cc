#include "core/analysis/rows_in_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

// Stacks of a few functions, some inlined into others, that call each other and themselves.
Profile RandomStacks(uint32_t seed) {
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

// What rows are in a call adds up to what the tree says of it, wherever a look begins.
TEST(RowsInTree, AddUpToTheFiguresOfTheTree) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Profile profile = RandomStacks(seed);
    std::vector<double> values;
    std::vector<bool> rows;
    for (const HeapFigures& f : FiguresOfRows(profile)) {
      rows.push_back(rows.size() % 5 != seed % 5);
      values.push_back(rows.back() ? f.live_bytes.value : 0);
    }
    for (const Granularity granularity : {Granularity::kFunctions, Granularity::kFiles}) {
      const Entities entities(profile, granularity);
      for (const bool callers : {false, true}) {
        const StackTree tree(profile, entities, values, callers);
        const std::vector<StackTree::Node> all = tree.Look({}).nodes;
        for (size_t from = 0; from < all.size(); from += 5) {
          StackTree::Question question;
          for (auto at = static_cast<uint32_t>(from); all[at].parent != kNone;
               at = all[at].parent) {
            question.path.insert(question.path.begin(), StepOf(profile, entities, all[at].entity));
          }
          question.depth = 1 + from % 3;
          const StackTree::View view = tree.Look(question);
          const std::vector<uint32_t> node_of_row =
              RowsInTree(profile, entities, view, rows, callers);
          std::vector<double> sums(view.nodes.size());
          for (RowId row = 0; row < values.size(); ++row) {
            if (node_of_row[row] != kNone) sums[node_of_row[row]] += values[row];
          }
          for (size_t i = sums.size(); i-- > 1;) sums[view.nodes[i].parent] += sums[i];
          for (size_t i = 0; i < sums.size(); ++i) {
            ASSERT_EQ(sums[i], view.nodes[i].value) << seed << " " << callers << " " << from;
          }
        }
      }
    }
  }
}

TEST(RowsInTree, AreNoneWhereThePathDoesNotExist) {
  const Profile profile = RandomStacks(1);
  const Entities entities(profile, Granularity::kFunctions);
  const StackTree tree(profile, entities, std::vector<double>(profile.rows.size(), 1), false);
  StackTree::Question question;
  question.path = {12345};
  const std::vector<bool> rows(profile.rows.size(), true);
  EXPECT_EQ(RowsInTree(profile, entities, tree.Look(question), rows, false),
            std::vector<uint32_t>(profile.rows.size(), kNone));
}

}  // namespace
}  // namespace heapgauge
