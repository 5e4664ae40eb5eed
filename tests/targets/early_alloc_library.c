// A library whose constructor, which runs before any of the program's, allocates.

#include "tests/targets/support.h"

enum { kBlocks = 200 };
static void* block[kBlocks];

void* EarlyLibraryBlock(int index);

__attribute__((constructor)) static void Start(void) {
  for (int i = 0; i < kBlocks; ++i) {
    block[i] = malloc(64 + (size_t)i);
    Mark(block[i], 64 + (size_t)i, 42);
  }
}

void* EarlyLibraryBlock(int index) { return block[index]; }
