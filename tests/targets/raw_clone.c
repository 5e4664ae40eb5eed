// A child made by the bare system call clone(SIGCHLD): no atfork handler runs, and the C library
// keeps its idea of who it is.
//
// Prints what the child computed and how it ended.

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/targets/support.h"

enum { kBlocks = 1000 };

int main(void) {
  static void* block[kBlocks];
  for (int i = 0; i < kBlocks; ++i) block[i] = AllocateAt((uint64_t)i, 5, 10000);
  for (int c = 0; c < 3; ++c) {
    int ends[2];
    Require(pipe(ends) == 0, "pipe");
    fflush(stdout);
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    Require(child >= 0, "clone");
    if (child == 0) {
      for (int i = 0; i < kBlocks; i += 3) free(block[i]);
      const uint64_t sum = Exercise(7 + (uint64_t)c, 20000);
      Require(write(ends[1], &sum, sizeof sum) == sizeof sum, "write");
      _exit(3);
    }
    uint64_t sum = 0;
    const uint64_t mine = Exercise(70 + (uint64_t)c, 20000);
    Require(read(ends[0], &sum, sizeof sum) == sizeof sum, "the child said nothing");
    int status = 0;
    Require(waitpid((pid_t)child, &status, 0) == child, "waitpid");
    printf("child %d: sum %lx, parent's %lx, exited %d with %d\n", c, (unsigned long)sum,
           (unsigned long)mine, WIFEXITED(status), WEXITSTATUS(status));
    close(ends[0]);
    close(ends[1]);
  }
  for (int i = 0; i < kBlocks; ++i) free(block[i]);
  puts("done");
  return 0;
}
