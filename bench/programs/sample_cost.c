// CPU time of one malloc/free pair below 25 frames: `sample_cost PAIRS SIZE STACKS`
//
// Run bare, and again with an interval so small against SIZE that every call is sampled, the
// difference is what a sample costs, its free included. STACKS (a power of two) different stacks
// take turns at random in their last frames. Prints nanoseconds per pair after a warm-up.

#include <malloc.h>
#include <time.h>

#include "tests/targets/support.h"

enum { kOuterFrames = 12, kInnerFrames = 8 };

static uint64_t CpuNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static HG_NOINLINE void Loop(long pairs, size_t size, uint64_t mask) {
  uint64_t random = 99;
  for (long i = 0; i < pairs; ++i) {
    void* p = AllocateAt(NextRandom(&random) & mask, kInnerFrames, size);
    Escape(p);
    free(p);
  }
}

static HG_NOINLINE void Descend(unsigned depth, long pairs, size_t size, uint64_t mask) {
  if (depth > 0) {
    Descend(depth - 1, pairs, size, mask);
  } else {
    Loop(pairs, size, mask);
  }
  Escape(&depth);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: sample_cost PAIRS SIZE STACKS\n");
    return 2;
  }
  const long pairs = atol(argv[1]);
  const size_t size = strtoull(argv[2], NULL, 10);
  const uint64_t mask = strtoull(argv[3], NULL, 10) - 1;
  // Large blocks shall come from the heap, as cheaply as small ones: no mmap, no trimming.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  Descend(kOuterFrames, pairs / 10 + 1000, size, mask);
  const uint64_t start = CpuNs();
  Descend(kOuterFrames, pairs, size, mask);
  printf("%.1f\n", (double)(CpuNs() - start) / (double)pairs);
  return 0;
}
