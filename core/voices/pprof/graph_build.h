// The parts that TrimmedGraph() is made of: what each node weighs, the edges between those that are
// kept, their tags, and call trees. Each is one visit of the stacks.
//
// For graph_trim.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/stack_walk.h"

namespace heapgauge::pprof {

// Finds the edge between two nodes of a graph, or adds it. Open addressing, one probe mostly: this
// is asked once for each frame of each distinct stack.
//
// Not synchronised.
class EdgeTable {
 public:
  EdgeTable() : slots_(1024) {}

  // The number of the edge; edges are numbered as they are met.
  uint32_t Find(uint32_t src, uint32_t dest) {
    const uint64_t key = uint64_t{src} << 32 | dest;
    for (size_t i = Hash(key);; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.id_plus_1 == 0) return Add(key, &slot);
      if (slot.key == key) return slot.id_plus_1 - 1;
    }
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t id_plus_1 = 0;
  };

  static size_t Hash(uint64_t key) {
    key *= 0x9e3779b97f4a7c15;
    return key ^ key >> 32;
  }

  uint32_t Add(uint64_t key, Slot* slot) {
    slot->key = key;
    slot->id_plus_1 = static_cast<uint32_t>(++size_);
    const auto id = static_cast<uint32_t>(size_ - 1);
    if (size_ * 2 > slots_.size()) Grow();
    return id;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id_plus_1 == 0) continue;
      size_t i = Hash(slot.key);
      while (slots_[i & (slots_.size() - 1)].id_plus_1 != 0) ++i;
      slots_[i & (slots_.size() - 1)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

class GraphTree;

// Fills in what the nodes weigh; one node for each entry of the table.
void CountNodes(const StackPlan& plan, Graph* graph);

// Nodes are shown if they weigh anything; with `drop_negative`, only those that do not shrink.
inline bool IsShown(int64_t flat, int64_t cum, bool drop_negative) {
  if (cum == 0 && flat == 0) return false;
  return !drop_negative || (flat >= 0 && (flat != 0 || cum >= 0));
}
void ListNodes(bool drop_negative, Graph* graph);

// Makes the edges between nodes for which `kept` is set; empty for all, also those that are not
// listed. With `inlined_only`, edges are made only into nodes that were inlined somewhere.
void CountEdges(const StackPlan& plan, const std::vector<bool>& kept, bool inlined_only,
                Graph* graph);

struct TagOptions {
  std::string unit;        // that numbers are shown in
  std::string bytes_unit;  // of the label "bytes", the only number that graphs show
  int64_t cutoff = 0;
};
// Makes the tags of `some` nodes, those of weight `cutoff` and up. `tree` is what the graph was
// made from, or null.
void CountTags(const RowValues& values, const TagOptions& options, const std::vector<GraphId>& some,
               const GraphTree* tree, Graph* graph);

}  // namespace heapgauge::pprof
