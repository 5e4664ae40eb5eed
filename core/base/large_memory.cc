#include "core/base/large_memory.h"

#include <malloc.h>

namespace heapgauge {
namespace {

constexpr int kMiB = 1 << 20;
constexpr int kLargest = 32 * kMiB;  // more than that glibc always maps by itself
constexpr int kStep = 4 * kMiB;      // that the heap grows by
constexpr int kSpare = 64 * kMiB;    // that it does not give back

}  // namespace

void MakeHeapSteady() {
  // One arena: others grow by 4 KiB at a time, each a system call.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kSpare);
  mallopt(M_TOP_PAD, kStep);
}

}  // namespace heapgauge
