// For a test that makes a set-user-id copy of it: says whether the agent came along.
//
// Prints whether the kernel runs it in secure mode (AT_SECURE) and whether an object whose name
// contains "heapgauge" is mapped.

#include <sys/auxv.h>

#include "tests/targets/support.h"

int main(void) {
  char line[4096];
  int mapped = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  Require(maps != NULL, "cannot read /proc/self/maps");
  while (fgets(line, sizeof line, maps) != NULL) mapped |= strstr(line, "libheapgauge") != NULL;
  fclose(maps);
  printf("secure mode: %s\n", YesNo(getauxval(AT_SECURE) != 0));
  printf("agent mapped: %s\n", YesNo(mapped));
  printf("sum %lx\n", (unsigned long)Exercise(1, 20000));
  return 0;
}
