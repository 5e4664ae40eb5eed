// What a check says of one block, in the kinds and by the rules that memcheck made known.
//
// Plain data.
#ifndef HEAPGAUGE_CORE_LEAKS_VERDICT_H_
#define HEAPGAUGE_CORE_LEAKS_VERDICT_H_

#include <cstdint>

#include "core/leaks/known_blocks.h"

namespace heapgauge::leaks {

// In the order in which reports list them.
enum class Kind : uint8_t {
  kReachable,  // a chain of pointers to starts of blocks leads from a root to it
  kPossible,  // the only chains have a pointer into the middle of a block; where not all blocks are
              // known, also: the only pointers are in memory of blocks that are not known
  kIndirect,  // only blocks that are lost themselves point to it
  kDefinite,  // nothing points to it
};
inline constexpr uint32_t kKinds = 4;
const char* KindName(Kind kind);  // "reachable", "possible", "indirect", "definite"

// Pointers into the middle of a block that count as pointers to its start.
enum class Heuristic : uint8_t { kNone, kStdString, kLength64, kNewArray, kMultipleInheritance };
inline constexpr uint32_t kHeuristics = 5;
const char* HeuristicName(Heuristic heuristic);  // "none", "stdstring", "length64", ...

struct Verdict {
  Kind kind = Kind::kDefinite;
  Heuristic heuristic = Heuristic::kNone;  // that made it reachable
  // Of an indirectly lost block: the definitely (or possibly) lost one whose clique it is in.
  uint32_t leader = kNoBlock;
  // The pointer that led here first: its address (of a register: its index in Roots::registers),
  // and the block it is in; kNoBlock: a root. Following `from` gives the way to the owner.
  uint64_t pointer = 0;
  uint32_t from = kNoBlock;
  bool by_register = false;
  bool has_pointer = false;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_VERDICT_H_
