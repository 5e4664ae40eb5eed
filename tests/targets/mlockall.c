// mlockall(MCL_CURRENT | MCL_FUTURE): every page that is mapped from then on is locked in memory at
// once, so a profiler that maps generously would be paid for in real memory.
//
// Takes 64 MiB in blocks of 16 KiB and prints whether the locked memory grew by about that, and by
// not much more (128 MiB); and whether it was below 256 MiB to begin with.

#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/targets/support.h"

enum { kBlocks = 4096, kBytes = 16384 };

int main(void) {
  Exercise(1, 20000);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    puts("skip: mlockall is not permitted");
    return kSkipped;
  }
  const long before = StatusKiB("VmLck:");
  static void* block[kBlocks];
  for (unsigned i = 0; i < kBlocks; ++i) {
    block[i] = AllocateAt(i, 8, kBytes);
    Require(block[i] != NULL, "out of memory");
    Mark(block[i], kBytes, i);
  }
  const long grown = StatusKiB("VmLck:") - before;
  printf("locked before: below 256 MiB: %s\n", YesNo(before < 256 * 1024));
  printf("grew by 64 to 128 MiB: %s\n", YesNo(grown >= 64 * 1024 && grown <= 128 * 1024));
  for (unsigned i = 0; i < kBlocks; ++i) {
    Require(Marked(block[i], kBytes, i), "a block was damaged");
    free(block[i]);
  }
  printf("sum %lx\n", (unsigned long)Exercise(2, 20000));
  return 0;
}
