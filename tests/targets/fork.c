// fork: parent and child both allocate after the fork, and free blocks that were taken before it.
//
//   fork [CHILDREN]     default 3, one after the other
//
// Prints for each child what it computed (through a pipe, in order) and how it ended.

#include <sys/wait.h>

#include "tests/targets/support.h"

enum { kBlocks = 2000 };

int main(int argc, char** argv) {
  const int children = argc > 1 ? atoi(argv[1]) : 3;
  static void* block[kBlocks];
  uint64_t random = 5;
  for (int i = 0; i < kBlocks; ++i) {
    const size_t size = 1 + (size_t)(NextRandom(&random) % 20000);
    block[i] = AllocateAt((uint64_t)i, 6, size);
    Mark(block[i], 1, (unsigned)i);
  }
  for (int c = 0; c < children; ++c) {
    int ends[2];
    Require(pipe(ends) == 0, "pipe");
    fflush(stdout);
    const pid_t child = fork();
    Require(child >= 0, "fork");
    if (child == 0) {
      // The child frees half of what it inherited, and takes some of its own.
      for (int i = c; i < kBlocks; i += 2) {
        Require(Marked(block[i], 1, (unsigned)i), "an inherited block was damaged");
        free(block[i]);
      }
      const uint64_t sum = Exercise(100 + (uint64_t)c, 20000);
      Require(write(ends[1], &sum, sizeof sum) == sizeof sum, "write");
      exit(c);
    }
    close(ends[1]);
    uint64_t sum = 0;
    const uint64_t mine = Exercise(200 + (uint64_t)c, 20000);
    Require(read(ends[0], &sum, sizeof sum) == sizeof sum, "the child said nothing");
    close(ends[0]);
    int status = 0;
    Require(waitpid(child, &status, 0) == child, "waitpid");
    printf("child %d: sum %lx, parent's %lx, exited %d with %d\n", c, (unsigned long)sum,
           (unsigned long)mine, WIFEXITED(status), WEXITSTATUS(status));
  }
  for (int i = 0; i < kBlocks; ++i) {
    Require(Marked(block[i], 1, (unsigned)i), "a block of the parent was damaged");
    free(block[i]);
  }
  puts("done");
  return 0;
}
