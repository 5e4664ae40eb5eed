// Asks the kernel for large pages under memory that is read here and there: most of the time that
// a table of a hundred megabytes takes goes into finding the pages it is on.
#ifndef HEAPGAUGE_CORE_BASE_HUGE_PAGES_H_
#define HEAPGAUGE_CORE_BASE_HUGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

// A hint that may be given for any memory of ours. Best before the memory is first used.
inline void PreferHugePages(void* begin, size_t bytes) {
  constexpr uintptr_t kHuge = 2 << 20;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kHuge - 1) / kHuge * kHuge;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) / kHuge * kHuge;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// Like reserve(), but the new memory has large pages if there is much of it.
template <typename T>
void ReserveHuge(size_t capacity, std::vector<T>* vector) {
  if (capacity <= vector->capacity()) return;
  std::vector<T> larger;
  larger.reserve(capacity);
  PreferHugePages(larger.data(), capacity * sizeof(T));
  larger.assign(vector->begin(), vector->end());
  vector->swap(larger);
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_HUGE_PAGES_H_
