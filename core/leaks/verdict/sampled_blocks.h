// The live blocks that a gauge file knows, and the order that checks need blocks in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/leaks/scan/known_blocks.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {

// Brings blocks into the order that checks need: sorts by address and drops the older one of two
// that overlap: a free that nobody saw leaves its block behind, and another one gets its place.
// Address 0 is that of blocks whose place is not known: all of these stay. Returns how many were
// dropped.
uint64_t MakeDistinct(std::vector<KnownBlock>* blocks);

// The live blocks that a gauge file knows, for a leak check: those that were sampled, each with
// what it stands for.
//
// Of a program that is stopped to be looked at, only the live records must be of that moment; the
// stacks that they name are never forgotten. So it is done in two steps: LiveRecords::Copy while
// the program stands still (one read for each 1,024 samples, well below a millisecond for most
// programs), and SampledBlocks() when it runs again.
//
//   HG_ASSIGN(const File file, File::OpenForReading(path));
//   Stop(pid);
//   Result<LiveRecords> records = LiveRecords::Copy(file);
//   GoOn(pid);
//   HG_ASSIGN(KnownBlocks known, SampledBlocks(path, *records));
//
// The file is treated as hostile, as in core/gauge/gauge_reader.h. Not synchronised.
struct LiveRecords {
  std::vector<wire::LiveRecord> records;
  uint64_t now_ns = 0;    // of the file's clock; 0: as the file says, its program is gone
  uint64_t left_out = 0;  // were being written at that moment
  // On the same clock. Blocks that were born at this time or later are not told: the memory that is
  // looked at is older than the records. 0: all are.
  uint64_t born_before_ns = 0;

  // Of a running program. `born_before` is the same as above by CLOCK_MONOTONIC, 0 if all count.
  static Result<LiveRecords> Copy(const File& file, uint64_t born_before = 0);
};

// Of two records that overlap, the younger one counts: a free that nobody saw leaves its record
// behind. Blocks before the last reset are left out. Profile::notes tells what is missing.
Result<KnownBlocks> SampledBlocks(const std::string& path, const LiveRecords& live);

// Both steps for a file whose program is gone, or may run on meanwhile.
Result<KnownBlocks> SampledBlocks(const std::string& path);

}  // namespace heapgauge::leaks
