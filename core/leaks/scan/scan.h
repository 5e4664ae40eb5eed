// Which blocks can still be reached: follows pointers from the roots through all blocks, and tells
// memcheck's nine cases apart.
//
// A pointer is an aligned word whose value lies in a block. First everything that is reached by
// starts of blocks alone is found, then what only pointers to the middle of blocks lead to; what is
// left is lost, and is put into cliques: each has a leader that no other lost block points to (in a
// circle any one), and the rest of it is lost indirectly.
//
// Where not all blocks are known (`exact` is false), memory of the heap outside of known blocks is
// searched as well. It belongs to blocks that nobody knows, or was freed.
// - A pointer from a root, or from memory that is reached, to such memory reaches the 4 KiB from
//   there, up to the next known block or the end of the heap's range; what is found in them counts
//   as found in a root. So a chain through unknown blocks makes a known one reachable, and a
//   pointer to its middle possibly lost.
// - A known block to which only unreached unknown memory points is possibly lost.
// - A known block to which only lost known blocks point is indirectly lost, and one to which
// nothing
//   points definitely.
// - Verdict::from is kNoBlock for pointers in unknown memory too.
//
// Reads each byte of roots and blocks once, in the order of addresses, through a buffer (sampled:
// in sweeps). Memory is 44 bytes for each block and 8 for each pointer to what is not known to be
// reached when it is read; sampled, also 32 bytes for each KiB of unknown memory that is reached in
// part. Where memory searches itself (memory_image.h) and that fails midway, all is read after all.
// Single-threaded.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/roots.h"
#include "core/leaks/scan/scan_parts.h"
#include "core/leaks/scan/verdict.h"

namespace heapgauge::leaks {

struct ScanResult {
  std::vector<Verdict> verdicts;  // of each block
  uint64_t scanned_bytes = 0;
  uint64_t unreadable_bytes = 0;
  uint64_t cpu_ns = 0;  // of all who worked for it
};

// REQUIRES: `blocks` by address, without overlaps.
ScanResult Scan(const MemoryImage& image, const std::vector<KnownBlock>& blocks, bool exact,
                const Roots& roots, const ScanOptions& options);

}  // namespace heapgauge::leaks
