/* The same in C alone, where no library has the C++ operators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 10000, kBlocks = 4000 };

static void* blocks[kBlocks];

__attribute__((noinline)) static void HoldByMalloc(void) {
  for (int i = 0; i < kBlocks; ++i) blocks[i] = memset(malloc(kBytes), 1, kBytes);
}

int main(void) {
  HoldByMalloc();
  for (int i = 0; i < kBlocks / 2; ++i) free(blocks[i]);
  puts("held");
  return ((char*)blocks[kBlocks - 1])[5] - 1;
}
