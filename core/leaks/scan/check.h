// One leak check: the blocks, what was found about each, and how it was done. Everything that the
// reports show is made of this.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/roots.h"
#include "core/leaks/scan/verdict.h"

namespace heapgauge::leaks {

// How memory was seen.
enum class Look : uint8_t {
  kNone,     // not at all: a file, or a program that is gone
  kCopy,     // in a copy that the program was made to fork while its threads were stopped
  kOwnCopy,  // in a copy that the agent forked; stacks of other threads were searched whole
  kInPlace,  // in the program itself, while it was stopped: at its end
  kSaved,    // in what we saved of it while it was stopped: it could not be made to fork
};

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
