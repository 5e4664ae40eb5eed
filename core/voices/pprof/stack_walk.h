// Visits the trie of stacks once, depth first, with the sums of the rows below each node.
//
// Reports need what all rows together weigh at each frame, not the rows themselves. Rows share the
// outer parts of their stacks, so one visit of the trie does the work of walking every stack. A
// frame that repeats on a stack counts once: the visitor counts how often it is on the path, and
// adds the sum where it was met first, which is known when the path is left again.
//
// Nodes were numbered along stacks when the trie was made, so most have their parent just before
// them. Such a run is a chain; only chains need links to each other. That keeps the plan at 16
// bytes for each stack, none for each node, and the visit close to sequential. No recursion: stacks
// come from files.
//
// Where stacks share little of each other, that order only makes each stack wait for memory. There,
// rows are visited as they stand in the profile, each as a tail from its outermost frame on, and
// many stacks are walked side by side; sums come out the same.
//
// The plan refers to the profile, which must not change meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/numbers.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge::pprof {

// What rows weigh together. Their number of things, for means, is `divisor`.
struct Weight {
  int64_t value = 0;
  int64_t divisor = 0;
  bool any = false;  // some row had a weight, even if the sum is zero

  void Add(const Weight& other) {
    value = WrapAdd(value, other.value);
    divisor = WrapAdd(divisor, other.divisor);
    any |= other.any;
  }
  // `any` stays: it is only asked for while something is left.
  void Subtract(const Weight& other) {
    value = WrapAdd(value, WrapNegate(other.value));
    divisor = WrapAdd(divisor, WrapNegate(other.divisor));
  }
};

// The value of a row that a report shows, and what it is divided by for means.
struct RowValues {
  const Profile* profile = nullptr;
  size_t type = 0;
  bool mean = false;

  Weight Of(RowId row) const {
    Weight weight;
    weight.value = profile->value(row, type);
    if (mean) weight.divisor = profile->value(row, 0);
    weight.any = weight.value != 0 || weight.divisor != 0;
    return weight;
  }
};

class StackPlan {
 public:
  explicit StackPlan(const RowValues& values);

  // Calls, where there are rows:
  //   visitor->Enter(location)           going inwards
  //   visitor->Leave(location, weight)   going back, with the sum of the node and all below
  //   visitor->Rows(location, weight)    the rows that end at a node
  // Most nodes are on ends of stacks that part no more. These are visited once each, from
  // BeginTail() to EndTail(), going inwards, between the Enter() and Leave() of their callers:
  //   visitor->Tail(location, weight)
  template <typename Visitor>
  void Walk(Visitor* visitor) const {
    if (chains_.empty()) MakeChains();
    WalkTrie(0, 1, visitor);
  }
  // The same for a share of the rows, so that several threads can each take one. What the visitors
  // sum up adds up to what one of them would have found by Walk(), but the order may be another.
  template <typename Visitor>
  void WalkPart(uint32_t part, uint32_t parts, Visitor* visitor) const {
    by_rows_ ? WalkRows(part, parts, visitor) : WalkTrie(part, parts, visitor);
  }
  // How many parts are worth a thread each.
  uint32_t parts() const;
  // Visitors that meet the parts one after another meet everything in the order that one of them
  // would have met it in by WalkPart(0, 1).
  bool parts_keep_order() const { return by_rows_; }

  const RowValues& values() const { return values_; }

 private:
  struct Chain {
    NodeId start = 0;           // its nodes go on to the start of the next chain
    uint32_t children_end = 0;  // in children_, of the chains that begin at one of its nodes
    uint32_t rows_end = 0;      // in rows_, of the rows that end at one of its nodes
  };
  // An element of a list sorted by node.
  struct AtNode {
    NodeId node = 0;
    uint32_t id = 0;
  };
  template <typename Visitor>
  void WalkTrie(uint32_t part, uint32_t parts, Visitor* visitor) const;
  template <typename Visitor>
  void WalkRows(uint32_t part, uint32_t parts, Visitor* visitor) const;
  // The rows from `row` to `end`, whose stacks go on alone from `first` on.
  template <typename Visitor>
  void WalkTail(NodeId first, uint32_t row, uint32_t end, Weight* sum, Visitor* visitor) const;
  // Asks memory for the chains that will be visited soon, if that of `child` is visited now.
  void PrefetchBefore(uint32_t child) const {
    constexpr uint32_t kChain = 9;
    constexpr uint32_t kNodes = 6;
    constexpr uint32_t kValue = 3;
    if (child < kChain) return;
    __builtin_prefetch(&chains_[children_[child - kChain].id]);
    const uint32_t chain = children_[child - kNodes].id;
    __builtin_prefetch(rows_.data() + first_row(chain));
    const Node* nodes = values_.profile->nodes.data() + chains_[chain].start;
    constexpr uint32_t kLine = 64 / sizeof(Node);
    for (uint32_t i = 0; i < 4; ++i) __builtin_prefetch(nodes + i * kLine);
    const uint32_t row = first_row(children_[child - kValue].id);
    if (row < rows_.size()) {
      __builtin_prefetch(values_.profile->values.data() +
                         rows_[row].id * values_.profile->sample_types.size() + values_.type);
    }
  }
  static void SortByNode(std::vector<AtNode>* list);
  bool SharesLittle() const;
  void MakeChains() const;
  NodeId end_of(uint32_t chain) const {
    return chain + 1 < chains_.size() ? chains_[chain + 1].start
                                      : static_cast<NodeId>(values_.profile->nodes.size());
  }

  uint32_t first_child(uint32_t chain) const {
    return chain == 0 ? 0 : chains_[chain - 1].children_end;
  }
  uint32_t first_row(uint32_t chain) const { return chain == 0 ? 0 : chains_[chain - 1].rows_end; }

  RowValues values_;
  std::vector<AtNode> rows_;
  bool by_rows_ = false;  // then chains are made only if Walk() needs them
  mutable std::vector<Chain> chains_;
  mutable std::vector<AtNode> children_;  // chains by the node that they begin at
  mutable std::vector<uint32_t> roots_;   // chains that begin at no node
};

template <typename Visitor>
void StackPlan::WalkTail(NodeId first, uint32_t row, uint32_t end, Weight* sum,
                         Visitor* visitor) const {
  const std::vector<Node>& nodes = values_.profile->nodes;
  Weight below;
  for (uint32_t i = row; i < end; ++i) below.Add(values_.Of(rows_[i].id));
  sum->Add(below);
  visitor->BeginTail();
  for (NodeId node = first; row < end; ++node) {
    const LocationId location = nodes[node].location;
    visitor->Tail(location, below);
    if (rows_[row].node != node) continue;
    Weight here;
    while (row < end && rows_[row].node == node) here.Add(values_.Of(rows_[row++].id));
    visitor->Rows(location, here);
    below.Subtract(here);
  }
  visitor->EndTail();
}

template <typename Visitor>
void StackPlan::WalkRows(uint32_t part, uint32_t parts, Visitor* visitor) const {
  WalkStacks(
      values_.profile->nodes, rows_.size() * part / parts, rows_.size() * (part + 1) / parts,
      [this](size_t row) { return rows_[row].node; },
      [&](size_t row, const std::vector<LocationId>& stack) {
        const Weight weight = values_.Of(rows_[row].id);
        visitor->BeginTail();
        for (size_t i = stack.size(); i-- > 0;) visitor->Tail(stack[i], weight);
        visitor->Rows(stack[0], weight);
        visitor->EndTail();
      });
}

template <typename Visitor>
void StackPlan::WalkTrie(uint32_t part, uint32_t parts, Visitor* visitor) const {
  struct Open {
    uint32_t chain;
    NodeId node;        // the innermost that is not left yet
    uint32_t children;  // those before are still to be visited
    uint32_t rows;
  };
  const std::vector<Node>& nodes = values_.profile->nodes;
  std::vector<Open> open;
  std::vector<Weight> sums(1);  // by depth; the first is for all
  const auto enter = [&](uint32_t chain) {
    const bool parts_again = first_child(chain) != chains_[chain].children_end;
    NodeId node = chains_[chain].start;
    if (parts_again) {
      for (const NodeId last = children_[chains_[chain].children_end - 1].node; node <= last;
           ++node) {
        visitor->Enter(nodes[node].location);
        sums.emplace_back();
      }
    }
    // What comes after the last child is a tail, whether there was a child or not.
    const uint32_t end = chains_[chain].rows_end;
    uint32_t row = end;
    while (row > first_row(chain) && rows_[row - 1].node >= node) --row;
    if (row != end && chain % parts == part) WalkTail(node, row, end, &sums.back(), visitor);
    if (parts_again) open.push_back({chain, node - 1, chains_[chain].children_end, row});
  };
  for (uint32_t root : roots_) {
    enter(root);
    while (!open.empty()) {
      Open& at = open.back();
      if (at.rows > first_row(at.chain) && rows_[at.rows - 1].node == at.node) {
        Weight here;
        while (at.rows > first_row(at.chain) && rows_[at.rows - 1].node == at.node) {
          here.Add(values_.Of(rows_[--at.rows].id));
        }
        if (part == 0) {
          visitor->Rows(nodes[at.node].location, here);
          sums.back().Add(here);
        }
      }
      if (at.children > first_child(at.chain) && children_[at.children - 1].node == at.node) {
        --at.children;
        PrefetchBefore(at.children);
        enter(children_[at.children].id);
        continue;
      }
      visitor->Leave(nodes[at.node].location, sums.back());
      sums[sums.size() - 2].Add(sums.back());
      sums.pop_back();
      if (at.node == chains_[at.chain].start) {
        open.pop_back();
      } else {
        --at.node;
      }
    }
  }
}

}  // namespace heapgauge::pprof
