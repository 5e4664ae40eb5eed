// Whose memory is what: cuts the mappings of a process into pieces and names an owner for each.
//
// Files, stacks and the like are told by their names. Anonymous memory has none, so its owner
// follows from what is known about addresses, the surest first:
//   1. ranges that the agent says are its own,
//   2. heaps and chunks of glibc's, by their own headers; mappings that the allocator asked for,
//      where mmap was recorded,
//   3. mappings that hold blocks of the program: the allocator's, whole,
//   4. stacks of threads, then mappings that the program asked for, where mmap was recorded,
//   5. memory that touches a program or library: its zero-initialised data,
//   6. the rest has no known owner.
// The kernel merges neighbouring mappings, so one mapping may have pieces of several owners; how
// much of a piece is in memory is then asked of the page map, and without one it is taken in
// proportion.
//
// Pure but for the page map. Time is linear in mappings and ranges, but for sorting.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/os/memory_maps.h"

namespace heapgauge {

enum class Owner : uint8_t {
  kUnknown,
  kHeap,
  kStack,
  kMapped,   // asked for by mmap, recorded with its stack
  kProgram,  // the executable and libraries: code and data
  kFile,     // other files
  kShared,   // tmpfs, memfd, System V, shared anonymous memory
  kAgent,
  kKernel,  // vdso and its like
};
inline constexpr size_t kOwners = 9;
const char* OwnerName(Owner owner);

// A mapping that the agent recorded.
struct RecordedRange {
  AddressRange range;
  uint32_t record = 0;  // number of the caller's choice
  bool of_allocator = false;
};

struct OwnershipInput {
  std::vector<bool> is_stack;              // of each mapping
  std::map<uint64_t, uint64_t> zero_data;  // as from FindZeroData()
  std::vector<AddressRange> agent;         // merged
  std::vector<AddressRange> allocator;     // merged; surely the allocator's
  std::vector<uint64_t> blocks;            // sorted addresses of sampled blocks
  std::vector<RecordedRange> recorded;     // sorted, without overlaps
  std::set<std::pair<uint32_t, uint32_t>> memory_devices;
  std::string gauge_path;  // may be seen under another directory from inside
  uint64_t gauge_inode = 0;
};

inline constexpr uint32_t kNoRecord = 0xffffffff;

struct Piece {
  uint64_t start = 0;
  uint64_t end = 0;
  Owner owner = Owner::kUnknown;
  uint32_t mapping = 0;  // index in the list of mappings
  uint32_t record = kNoRecord;
  uint64_t resident = 0;
};

std::vector<Piece> FindOwners(const std::vector<MappingUsage>& mappings,
                              const OwnershipInput& input, PageMap* pages);

// The zero-initialised data (.bss) of the programs and libraries that a process has loaded. It is
// anonymous memory right behind an object's data, and other anonymous memory may follow without a
// gap; the object's program headers tell where it ends.
//
// The files are treated as hostile: a header that makes no sense counts as unreadable.

// True if the mapping can begin with zero-initialised data of the one before it.
bool MayHoldZeroData(const std::vector<MappingUsage>& mappings, size_t index);

// For each such mapping, by its start: where that data ends. The start itself if the object has
// none there; no entry if the object could not be read. `root` is where the process's paths begin,
// "/proc/PID/root" as a rule.
std::map<uint64_t, uint64_t> FindZeroData(const std::vector<MappingUsage>& mappings,
                                          const std::string& root);

// Which anonymous memory is glibc's malloc's: its arenas and the blocks it maps one by one. Their
// first words tell (heap_info of an arena's heap, the header of a mapped chunk), so the process's
// memory is read at these places, through /proc/PID/mem. Needs the right to trace the process;
// nothing is stopped or changed.
//
// The memory is treated as hostile: what does not look right to the last bit is not glibc's. The
// number of reads is bounded.
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
