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
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

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

}  // namespace heapgauge::leaks
