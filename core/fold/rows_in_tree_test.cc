#include "core/fold/rows_in_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/model/testing/random_stacks.h"

namespace heapgauge {
namespace {

using testing::RandomStacks;

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
              RowsInTree(Groundwork(profile), entities, view, rows, callers);
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
  EXPECT_EQ(RowsInTree(Groundwork(profile), entities, tree.Look(question), rows, false),
            std::vector<uint32_t>(profile.rows.size(), kNone));
}

}  // namespace
}  // namespace heapgauge
