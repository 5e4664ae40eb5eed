// Finds, for addresses within one unit, the function and the inlined calls that hold them.
//
// The unit is read once from front to back. Subtrees that hold no address of interest are skipped,
// by their sibling reference where the compiler wrote one. Nothing is recursive: depth costs memory
// in proportion to the file and no stack.
//
// Owned by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/symbolize/dwarf/attributes.h"
#include "core/symbolize/dwarf/unit.h"

namespace heapgauge::dwarf {

// A function, or a call that was inlined into `parent`.
struct CodeNode {
  int32_t parent = -1;
  FormValue entry;  // a reference to what names it
  uint32_t call_file = 0;
  uint32_t call_line = 0;
  uint32_t first = 0;  // its addresses are among these
  uint32_t last = 0;
};

// Where an entry's next sibling is, by its own word: beyond its children. 0 if it does not tell.
uint64_t SiblingOf(const Unit& unit, const Abbrev& abbrev, uint64_t attributes_at);

// Memory that one walk leaves to the next.
struct WalkBuffers {
  std::vector<CodeNode> nodes;
  std::vector<int32_t> node_of;
};

class UnitWalk {
 public:
  // REQUIRES: `addresses` is sorted. All outlive the walk, which has `buffers` for itself. Code
  // below `lowest` is not there.
  UnitWalk(const Unit& unit, std::span<const uint64_t> addresses, uint64_t lowest,
           AbbrevCache* abbrevs, WalkBuffers* buffers);

  // `*budget` bounds the work and is reduced by it.
  void Run(int64_t* budget) { Walk(false, budget); }
  // Looks everywhere for what Run() did not find: functions of classes that are local to other
  // functions can be nested anywhere. Rare, and several times as slow.
  void RunThoroughly(int64_t* budget) { Walk(true, budget); }

  // The innermost node of each address, or -1.
  const std::vector<int32_t>& node_of() const { return node_of_; }
  size_t node_count() const { return nodes_.size(); }
  const CodeNode& node(int32_t index) const { return nodes_[static_cast<size_t>(index)]; }

 private:
  struct Scope {
    bool code;     // within a function that holds an address of interest
    int32_t node;  // that function or inlined call
  };
  struct Entry {
    FormValue low, high, ranges, origin;
    uint32_t call_file = 0;
    uint32_t call_line = 0;
  };
  void Walk(bool thorough, int64_t* budget);
  Entry ReadEntry(const Abbrev& abbrev, ByteReader* reader) const;
  // Gives addresses of the entry's ranges to a new node, if they belong to `parent` now. Returns
  // the node, or -1 if there is no such address.
  int32_t Claim(const Entry& entry, int32_t parent, const FormValue& reference, int64_t* budget);
  void SkipChildren(const Abbrev& abbrev, uint64_t attributes_at, ByteReader* reader,
                    int64_t* budget) const;

  const Unit& unit_;
  std::span<const uint64_t> addresses_;
  uint64_t lowest_;
  const AbbrevTable& abbrevs_;
  std::vector<CodeNode>& nodes_;
  std::vector<int32_t>& node_of_;
  std::vector<CodeRange> ranges_;
};

}  // namespace heapgauge::dwarf
