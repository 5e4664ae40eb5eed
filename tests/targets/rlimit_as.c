// RLIMIT_AS: little address space is left. Allocates until NULL comes, frees, and goes on.
//
//   rlimit_as [MIB]      what is left, default 64
//
// Prints that NULL came with ENOMEM, that at least half of the space could be had, and that the
// program works afterwards; twice.

#include <errno.h>
#include <sys/resource.h>

#include "tests/targets/support.h"

enum { kMost = 65536 };

int main(int argc, char** argv) {
  const long left = argc > 1 ? atol(argv[1]) : 64;
  Exercise(1, 20000);
  const struct rlimit limit = {(rlim_t)(StatusKiB("VmSize:") + left * 1024) * 1024,
                               (rlim_t)(StatusKiB("VmSize:") + left * 1024) * 1024};
  Require(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
  static void* block[kMost];
  for (int round = 0; round < 2; ++round) {
    int got = 0;
    errno = 0;
    while (got < kMost && (block[got] = AllocateAt((uint64_t)got, 6, 64 * 1024)) != NULL) {
      Mark(block[got], 64 * 1024, (unsigned)got);
      ++got;
    }
    printf("NULL with ENOMEM: %s\n", YesNo(got < kMost && errno == ENOMEM));
    printf("at least half could be had: %s\n", YesNo(got >= left * 16 / 2));
    for (int i = 0; i < got; ++i) {
      Require(Marked(block[i], 64 * 1024, (unsigned)i), "a block was damaged");
      free(block[i]);
    }
    printf("sum %lx\n", (unsigned long)Exercise(2, 20000));
  }
  return 0;
}
