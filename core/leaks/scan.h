// Which blocks can still be reached: follows pointers from the roots through all blocks, and tells
// memcheck's nine cases apart.
//
// A pointer is an aligned word whose value lies in a block. First everything that is reached by
// starts of blocks alone is found, then what only pointers to the middle of blocks lead to; what is
// left is lost, and is put into cliques: each has a leader that no other lost block points to (in a
// circle any one), and the rest of it is lost indirectly.
//
// Where not all blocks are known, memory of the heap outside of known blocks may belong to others,
// or may have been freed. What such memory points to while nothing else does is possibly lost.
//
// Reads each byte of roots and blocks at most twice; memory is 32 bytes for each block and a
// buffer.
#ifndef HEAPGAUGE_CORE_LEAKS_SCAN_H_
#define HEAPGAUGE_CORE_LEAKS_SCAN_H_

#include <cstdint>
#include <vector>

#include "core/base/progress.h"
#include "core/leaks/known_blocks.h"
#include "core/leaks/memory_image.h"
#include "core/leaks/roots.h"
#include "core/leaks/verdict.h"

namespace heapgauge::leaks {

struct ScanOptions {
  uint32_t heuristics = ~0u;  // bit n: Heuristic n counts
  ProgressSink* progress = nullptr;
};

struct ScanResult {
  std::vector<Verdict> verdicts;  // of each block
  uint64_t scanned_bytes = 0;
  uint64_t unreadable_bytes = 0;
  uint64_t cpu_ns = 0;
};

// REQUIRES: `blocks` by address, without overlaps.
ScanResult Scan(const MemoryImage& image, const std::vector<Block>& blocks, bool exact,
                const Roots& roots, const ScanOptions& options);

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_SCAN_H_
