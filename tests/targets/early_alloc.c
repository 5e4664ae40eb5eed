// Allocations before main: in a preinit array, in a library's constructor, in constructors of
// several priorities, in an init array; freed in main and at the end.
//
// Prints how many blocks each stage took, and that they were sound in main.

#include "tests/targets/support.h"

enum { kStages = 5, kBlocks = 200 };

void* EarlyLibraryBlock(int index);  // in early_alloc_library.c

static void* block[kStages][kBlocks];
static int taken[kStages];

static void Take(int stage) {
  for (int i = 0; i < kBlocks; ++i) {
    const size_t size = 100 + (size_t)i * 97;
    block[stage][i] = i % 3 == 0   ? calloc(1, size)
                      : i % 3 == 1 ? realloc(NULL, size)
                                   : AllocateAt((uint64_t)i, 3, size);
    Mark(block[stage][i], size, (unsigned)(stage + 1));
    ++taken[stage];
  }
}

static void Preinit(void) { Take(0); }
__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = Preinit;

__attribute__((constructor(101))) static void First(void) { Take(1); }
__attribute__((constructor(60000))) static void Later(void) { Take(2); }
__attribute__((constructor)) static void Last(void) { Take(3); }

int main(void) {
  Take(4);
  int sound = 0;
  for (int s = 0; s < kStages; ++s) {
    for (int i = 0; i < kBlocks; ++i) {
      sound += Marked(block[s][i], 100 + (size_t)i * 97, (unsigned)(s + 1));
      free(block[s][i]);
    }
    printf("stage %d took %d\n", s, taken[s]);
  }
  int library = 0;
  for (int i = 0; i < kBlocks; ++i) {
    void* p = EarlyLibraryBlock(i);
    library += p != NULL && Marked(p, 64 + (size_t)i, 42);
    free(p);
  }
  printf("sound: %d of %d, of the library: %d\n", sound, kStages * kBlocks, library);
  return 0;
}
