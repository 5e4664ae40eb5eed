// Figures of the allocator below, for programs that ask tcmalloc or jemalloc for theirs.
//
// Only glibc's malloc can be asked for them in a neutral way; over others there are none, and the
// question is answered as one that is not understood. Threads: any.
#pragma once

#include <cstddef>
#include <optional>

namespace heapgauge::compat {

struct AllocatorFigures {
  size_t allocated = 0;   // by the program, rounding included
  size_t mapped = 0;      // heaps and large blocks
  size_t free = 0;        // in heaps, not given out
  size_t releasable = 0;  // of these, at the top of the main heap
  size_t resident = 0;    // an upper bound: no more than is mapped, nor than the process has
};

std::optional<AllocatorFigures> AskAllocator();

// Gives free memory back to the system; true if there was some.
bool ReleaseFreeMemory();

}  // namespace heapgauge::compat
