// A program that executes itself over and over: same pid, new image each time.
//
//   exec_self [GENERATIONS]     default 5
//
// Each generation allocates from a function of its own parity (Even, Odd), keeps it, prints a line
// and executes the next.

#include "tests/targets/support.h"

static HG_NOINLINE void* Even(size_t size) { return AllocateAt(0, 2, size); }
static HG_NOINLINE void* Odd(size_t size) { return AllocateAt(3, 2, size); }

int main(int argc, char** argv) {
  const int left = argc > 1 ? atoi(argv[1]) : 5;
  for (int i = 0; i < 2000; ++i) Escape(left % 2 == 0 ? Even(8192) : Odd(8192));
  printf("%d left, sum %lx\n", left, (unsigned long)Exercise((uint64_t)left, 5000));
  fflush(stdout);
  if (left == 0) return 0;
  char next[16];
  snprintf(next, sizeof next, "%d", left - 1);
  execl("/proc/self/exe", argv[0], next, (char*)NULL);
  perror("execl");
  return 1;
}
