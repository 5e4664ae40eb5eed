// Which memory of glibc's heap is free. Old words in it are no pointers, however much they look
// like it.
//
// glibc puts chunks side by side, each with its size in front of it and a bit that says whether the
// one before is in use. So they can be walked from the first to the last. That is done as a whole
// or not at all: unless the walk ends where the heap does, nothing of it is believed. Chunks that
// threads keep for themselves (tcache, fast bins) are marked as in use, and are not found.
//
// Reads all of the heap. Pure functions but for that.
#pragma once

#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// The free memory of one heap, by address: of the one that grows by brk, or of a further arena's,
// whole as it is mapped. Empty if it is no heap of glibc's. What is not in whole words of a free
// chunk is left out, and so are all but the first 4 million chunks and the last one.
std::vector<AddressRange> FindFreeChunks(const MemoryImage& image, const AddressRange& heap);

// What of the break is not malloc's, by address: a program may call sbrk itself, and glibc goes on
// behind what it took. `used` are addresses of blocks in use, in order; there is malloc's memory.
// Empty if that cannot be told.
std::vector<AddressRange> FindForeignBreak(const MemoryImage& image, const AddressRange& heap,
                                           const std::vector<uint64_t>& used);

// `ranges` without `holes`. REQUIRES: both by address, without overlaps.
std::vector<AddressRange> Without(const std::vector<AddressRange>& ranges,
                                  const std::vector<AddressRange>& holes);

}  // namespace heapgauge::leaks
