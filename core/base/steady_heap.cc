#include "core/base/steady_heap.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "core/base/huge_pages.h"

namespace heapgauge {
namespace {

constexpr int kMiB = 1 << 20;
// What a recorder needs for a program with few live blocks; none of it is touched before its time.
constexpr int kFirst = 48 * kMiB;
// The most that glibc does not map by itself.
constexpr int kLargest = 32 * kMiB;

}  // namespace

void MakeHeapSteady() {
  // One arena: others grow by 4 KiB at a time, each a system call.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 2 * kFirst);
  mallopt(M_TOP_PAD, kFirst);
  void* const begin = std::malloc(1);
  if (begin == nullptr) return;
  // The heap now reaches this far beyond what is in use.
  void* volatile extended = std::malloc(kLargest - 4096);
  std::free(extended);
  const auto start = reinterpret_cast<uintptr_t>(begin);
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  // Otherwise the allocator is not the one we know.
  if (start < end && end - start < uintptr_t{1} << 30) PreferHugePages(begin, end - start);
  std::free(begin);
}

}  // namespace heapgauge
