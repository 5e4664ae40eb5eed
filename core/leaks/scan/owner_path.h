// Who holds a block: the chain of pointers from a root to it, and every place that points to it.
//
// Pure functions; FindPointersTo() reads the whole image once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/pointer_place.h"

namespace heapgauge::leaks {

struct OwnerPath {
  uint32_t block = kNoBlock;
  // Where pointers are, from the root (or the leader of a lost group) on; each holds the address of
  // the block in which the next one is, the last one that of `block`. Empty: nothing points to it.
  std::vector<PointerPlace> places;
  // A long chain is cut in the middle: this many are left out after places[kept_first - 1].
  uint64_t left_out = 0;
  size_t kept_first = 0;
};

// The chain that the check found first. At most `limit` places, at least two. REQUIRES: `block` is
// the number of one of the check's blocks.
OwnerPath PathToBlock(const Check& check, uint32_t block, size_t limit = 64);

struct PointerTo {
  PointerPlace place;
  uint64_t value = 0;
};

struct PointersTo {
  std::vector<PointerTo> pointers;  // registers, then by address
  uint64_t count = 0;               // of all, also those beyond the limit
};

// All aligned words of roots and blocks, and of unknown memory of the heap where not all blocks are
// known, whose value lies in `target`. At most `limit` are told.
PointersTo FindPointersTo(const MemoryImage& image, const Check& check, const AddressRange& target,
                          size_t limit = 1000);

}  // namespace heapgauge::leaks
