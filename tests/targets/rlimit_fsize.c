// RLIMIT_FSIZE: a file that would grow past the limit raises SIGXFSZ, which kills.
//
//   rlimit_fsize [BYTES]      the limit, default 0
//
// Allocates before; sets the limit; keeps 20,000 blocks from thousands of new stacks, so that every
// table of a profiler has to grow. Prints a sum.

#include <sys/resource.h>

#include "tests/targets/support.h"

enum { kBlocks = 20000 };

int main(int argc, char** argv) {
  const rlim_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  Exercise(1, 20000);
  const struct rlimit limit = {bytes, bytes};
  Require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  static void* block[kBlocks];
  for (unsigned i = 0; i < kBlocks; ++i) {
    block[i] = AllocateAt(i * 2654435761u, 16, 4000);
    Mark(block[i], 4000, i);
  }
  const uint64_t sum = Exercise(2, 20000);
  for (unsigned i = 0; i < kBlocks; ++i) {
    Require(Marked(block[i], 4000, i), "a block was damaged");
    free(block[i]);
  }
  // To a pipe: the limit holds for regular files only. The caller reads the output through one.
  printf("alive %lx\n", (unsigned long)sum);
  return 0;
}
