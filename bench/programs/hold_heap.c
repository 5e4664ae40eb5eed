// Holds a large heap of blocks of mixed sizes from thousands of stacks: `hold_heap MIB`
//
// One sixteenth of the bytes are in blocks of 64 B to 4 KiB, the rest in blocks of 16 KiB to 1 MiB
// that are not touched, so that the heap is large and the machine may be small. Prints "ready
// LIVE_BYTES VMRSS_KIB RSSSHMEM_KIB" and waits for the end of standard input.

#include "tests/targets/support.h"

static uint64_t HoldBlocks(uint64_t bytes, size_t smallest, unsigned doublings, uint64_t* random) {
  uint64_t held = 0;
  while (held < bytes) {
    // Log-uniform: a power of two, then anything up to the next.
    const size_t base = smallest << NextRandom(random) % doublings;
    const size_t size = base + (size_t)(NextRandom(random) % base);
    void* p = AllocateAt(NextRandom(random) >> 20, 12, size);
    Require(p != NULL, "out of memory");
    held += size;
  }
  return held;
}

int main(int argc, char** argv) {
  const uint64_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4096) << 20;
  uint64_t random = 12345;
  uint64_t held = HoldBlocks(bytes / 16, 64, 6, &random);
  held += HoldBlocks(bytes - bytes / 16, 16384, 6, &random);
  printf("ready %lu %ld %ld\n", (unsigned long)held, StatusKiB("VmRSS:"), StatusKiB("RssShmem:"));
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
