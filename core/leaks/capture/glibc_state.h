// What a leak check must know of glibc's heap: its own data, and which memory is free.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// What a leak check must know of glibc's own data:
//
// - The arenas of malloc list free chunks by the addresses of their headers. A header's address is
//   that of the last word of the block before it, so such a list would make that block look
//   pointed to. An arena is known by its empty lists, which point to themselves.
// - A thread's control block points to the second element of a vector that came from malloc (dtv).
// - Stacks of ended threads are kept for the next ones, with everything that was on them. A stack
//   has its thread's control block at its end, which points to itself.
//
// All of it is found by reading memory, which is treated as hostile; nothing is followed.

// The arenas (struct malloc_state) in a range of data; at most a few are looked for.
std::vector<AddressRange> FindArenas(const MemoryImage& image, const AddressRange& data);

// How much memory an arena has got from the system, and where its last chunk lies.
struct ArenaSize {
  uint64_t bytes = 0;
  uint64_t last_chunk = 0;
};
ArenaSize SizeOf(const MemoryImage& image, const AddressRange& arena);

// The block that holds the vector of the thread with this control block; 0 if it has none.
uint64_t ThreadVectorBlock(const MemoryImage& image, uint64_t thread_pointer);

// Memory of the heap that holds thread-local data of the thread: its vector, and what the vector
// lists, which is the data of libraries that were loaded later. Empty if it is not glibc's heap.
std::vector<AddressRange> ThreadLocalBlocks(const MemoryImage& image, uint64_t thread_pointer);

struct ControlBlock {
  uint64_t address = 0;
  uint32_t thread = 0;  // kernel id as the process itself knows it; 0: it has ended
};
// The control block at the end of a stack; nothing if this is not a thread's.
std::optional<ControlBlock> FindControlBlock(const MemoryImage& image, const AddressRange& stack);

// Which memory of glibc's heap is free. Old words in it are no pointers, however much they look
// like it.
//
// glibc puts chunks side by side, each with its size in front of it and a bit that says whether the
// one before is in use. So they can be walked from the first to the last. That is done as a whole
// or not at all: unless the walk ends where the heap does, nothing of it is believed. Chunks that
// threads keep for themselves (tcache, fast bins) are marked as in use, and are not found.
//
// Reads all of the heap. Pure functions but for that.

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
