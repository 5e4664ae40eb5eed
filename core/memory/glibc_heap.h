// Which anonymous memory is glibc's malloc's: its arenas and the blocks it maps one by one. Their
// first words tell (heap_info of an arena's heap, the header of a mapped chunk), so the process's
// memory is read at these places, through /proc/PID/mem. Needs the right to trace the process;
// nothing is stopped or changed.
//
// The memory is treated as hostile: what does not look right to the last bit is not glibc's. The
// number of reads is bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/os/smaps.h"

namespace heapgauge {

struct GlibcRanges {
  std::vector<AddressRange> arenas;  // what an arena's heap has made accessible
  std::vector<AddressRange> chunks;  // mapped blocks, whole pages
  bool complete = false;             // memory could be read, and reads sufficed
};

// `blocks` are addresses of blocks that the program holds, sorted: a mapped one tells where its
// chunk begins, also where the kernel has merged several mappings into one.
GlibcRanges FindGlibcRanges(const std::vector<MappingUsage>& mappings,
                            const std::vector<uint64_t>& blocks, const ByteSource& memory);

// Arenas by their place alone, where memory may not be read: writable memory at a multiple of 64
// MiB that was mapped without a reservation, as glibc does it.
std::vector<AddressRange> GuessGlibcArenas(const std::vector<MappingUsage>& mappings);

}  // namespace heapgauge
