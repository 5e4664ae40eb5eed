// Asks the kernel for large pages under memory that is read here and there: most of the time that
// a table of a hundred megabytes takes goes into finding the pages it is on.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

inline constexpr size_t kHugePage = 2 << 20;

// A hint that may be given for any memory of ours. Best before the memory is first used.
inline void PreferHugePages(void* begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  if (bytes < kHugePage) return;
  // Whole pages, and what is beside it in them.
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPage * kPage;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// Like reserve(), but the new memory has large pages if there is much of it.
template <typename T>
void ReserveHuge(size_t capacity, std::vector<T>* vector) {
  if (capacity <= vector->capacity()) return;
  // With what the allocator needs for itself the mapping is one of large pages alone; then the
  // kernel makes it begin with one.
  constexpr size_t kForAllocator = 32;
  const size_t pages = (capacity * sizeof(T) + kForAllocator + kHugePage - 1) / kHugePage;
  if (pages > 1) capacity = (pages * kHugePage - kForAllocator) / sizeof(T);
  std::vector<T> larger;
  larger.reserve(capacity);
  PreferHugePages(larger.data(), capacity * sizeof(T));
  larger.assign(vector->begin(), vector->end());
  vector->swap(larger);
}

}  // namespace heapgauge
