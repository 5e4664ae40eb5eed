// A profile that somebody looks at, with what was made of it: figures, entities, trees, tables.
// Several views ask for the same, and zooming asks for the same tree again and again.
//
// The profile does not change; what is made of it is kept, the last few of each kind. Threads: any
// number, side by side; who asks for what another is making waits for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/fold/groundwork.h"
#include "core/fold/stack_tree.h"
#include "core/model/profile.h"
#include "endpoint/api/filter.h"
#include "endpoint/api/recent.h"

namespace heapgauge::endpoint::api {

class Subject {
 public:
  // How a tree is made of the rows that a filter leaves.
  struct Shape {
    bool callers = false;
    std::string through;   // a regular expression: the functions that the tree begins at; "" all
    std::string collapse;  // the same: whose calls of themselves are left out
    std::shared_ptr<Subject> base;  // what it is compared with; null: nothing
  };
  // The tree that a filter leaves, and the totals beside it.
  struct Tree {
    std::shared_ptr<const Profile> profile;  // whose stacks they are: the subject's own, or folded
    std::shared_ptr<const Entities> entities;
    std::unique_ptr<const StackTree> tree;
    std::vector<bool> rows;  // that are in it
    SortKey sort = SortKey::kLive;
    HeapFigures total;
    HeapFigures selected;
    double shrunk = 0;          // see GrownTree::shrunk
    bool compares = false;      // nodes have a value before and one after
    std::vector<RowId> row_of;  // by row of the subject, where stacks are folded; else empty

    // Which rows of the subject are in a node.
    std::vector<bool> RowsBelow(const std::vector<Step>& path) const;
  };
  struct Table {
    FunctionReport report;
    SortKey sort = SortKey::kLive;
    bool has_cum = false;
  };

  explicit Subject(std::shared_ptr<const Profile> profile);

  const std::shared_ptr<const Profile>& profile() const { return profile_; }
  const Groundwork& groundwork() const { return groundwork_; }
  const Measures& measures() const { return groundwork_.measures(); }
  HeapFigures FiguresOf(const std::vector<bool>& rows) const;
  // What the rows of each of `count` groups hold together; kNone: in no group.
  std::vector<HeapFigures> SumsOf(const std::vector<uint32_t>& group_of_row, size_t count) const;

  // Fails if a regular expression is none, or if the base counts something else.
  Result<std::shared_ptr<const Tree>> TreeOf(const Filter& filter, const Shape& shape);
  Result<std::shared_ptr<const Tree>> TreeOf(const Filter& filter, bool callers) {
    return TreeOf(filter, Shape{callers, {}, {}, nullptr});
  }
  // Flat figures alone take a tenth of the time, so a table has the others only if it is by them,
  // or if `both` are wanted.
  Result<std::shared_ptr<const Table>> TableOf(const Filter& filter, bool cumulative,
                                               bool both = false);

  // Anything else that is made of the profile: the last few, each by a key of its own. `make` gives
  // a Result<T>.
  template <typename T, typename Make>
  Result<std::shared_ptr<const T>> Kept(const std::string& key, const Make& make) {
    HG_ASSIGN(const std::shared_ptr<const void> kept,
              kept_.Get(key, [&]() -> Result<std::shared_ptr<const void>> {
                HG_ASSIGN(T made, make());
                return std::make_shared<const T>(std::move(made));
              }));
    return std::static_pointer_cast<const T>(kept);
  }

 private:
  Result<std::shared_ptr<const Tree>> MakeTree(const Filter& filter, const Shape& shape) const;
  Result<std::shared_ptr<const Table>> MakeTable(const Filter& filter, bool cumulative,
                                                 bool both) const;
  // By row, of those that the filter leaves; adds up the totals.
  Result<std::vector<double>> ValuesOf(const Filter& filter, bool with_shrunk, Tree* made) const;
  Status Fold(const Filter& filter, const Shape& shape, Tree* made, std::vector<double>* values,
              StackTree::Options* options) const;

  const std::shared_ptr<const Profile> profile_;
  const Groundwork groundwork_;
  const uint64_t number_;  // no other subject of this process has it
  // A tree has some bytes for each node of the profile where stacks part, more where it is folded.
  static constexpr size_t kLargeProfile = 4 << 20;
  static constexpr size_t kTrees = 4;
  static constexpr size_t kTreesOfLarge = 2;

  MadeOnce<Tree> trees_;
  MadeOnce<Table> tables_{4};
  MadeOnce<void> kept_{6};
};

}  // namespace heapgauge::endpoint::api
