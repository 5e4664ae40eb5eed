// One leak check: the blocks, the verdict on each, and how it was done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"

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

// What a check says of one block, in the kinds and by the rules that memcheck made known.
//
// Plain data.
//
// There are millions of these, and a scan writes to them in the order in which it reaches blocks:
// four share a line of the cache.
struct Verdict {
  // The pointer that led here first: its address (of a register: its index in Roots::registers),
  // and the block it is in (`from`); kNoBlock: a root. Following `from` gives the way to the owner.
  uint64_t pointer : 48 = 0;
  Kind kind = Kind::kDefinite;
  Heuristic heuristic : 4 = Heuristic::kNone;  // that made it reachable
  bool by_register : 1 = false;
  bool has_pointer : 1 = false;
  uint32_t from = kNoBlock;
  // Of an indirectly lost block: the definitely (or possibly) lost one whose clique it is in.
  uint32_t leader = kNoBlock;

  void set_pointer(uint64_t address) { pointer = address & ((uint64_t{1} << 48) - 1); }
};
static_assert(sizeof(Verdict) == 16);

// How memory was seen.
enum class Look : uint8_t {
  kNone,     // not at all: a file, or a program that is gone
  kCopy,     // in a copy that the program was made to fork while its threads were stopped
  kOwnCopy,  // in a copy that the agent forked; stacks of other threads were searched whole
  kInPlace,  // in the program itself, while it was stopped: at its end
  kSaved,    // in what we saved of it while it was stopped: it could not be made to fork
};

// One leak check: the blocks, what was found about each, and how it was done. Everything that the
// reports show is made of this.
//
// Plain data.
struct Check {
  KnownBlocks known;
  std::vector<Verdict> verdicts;  // of each block; empty if Look::kNone
  Roots roots;                    // to name what points to a block
  Look look = Look::kNone;

  uint32_t pid = 0;
  std::string executable;
  std::string command_line;
  uint64_t unix_ns = 0;   // when
  uint64_t pause_ns = 0;  // how long the program stood still
  uint32_t threads = 0;
  uint64_t scanned_bytes = 0;
  uint64_t scan_ns = 0;  // CPU time
  bool at_exit = false;

  // Since the program began; of a sampled one estimates.
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;

  std::vector<std::string> notes;  // what is missing or doubtful, one line each
};

}  // namespace heapgauge::leaks
