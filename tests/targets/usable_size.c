// malloc_usable_size tells at least what was asked for, all of it may be written, and it is what
// the allocator would have told without a profiler.
//
// Prints, for sizes up to 100,000, the smallest usable size of 200 blocks: single ones may be
// larger by what an allocator could not split off. For larger ones it depends on what lies free in
// the heap whether they get pages of their own, so they are only checked.

#include <malloc.h>

#include "tests/targets/support.h"

enum { kBlocks = 200 };

int main(void) {
  static const size_t kSizes[] = {1,    8,    24,   25,   64,    100,   500,    1000,   1024,
                                  4000, 4096, 5000, 8192, 20000, 70000, 100000, 200000, 1000000};
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; ++s) {
    const size_t size = kSizes[s];
    static unsigned char* block[kBlocks];
    size_t least = (size_t)-1;
    for (unsigned i = 0; i < kBlocks; ++i) {
      block[i] = AllocateAt(i, 4, size);
      const size_t usable = malloc_usable_size(block[i]);
      Require(usable >= size, "the usable size is smaller than the size");
      memset(block[i], (int)i, usable);
      if (usable < least) least = usable;
    }
    for (unsigned i = 0; i < kBlocks; ++i) {
      const size_t usable = malloc_usable_size(block[i]);
      Require(Marked(block[i], usable, i), "blocks overlap");
      // Within the usable size realloc keeps all contents.
      unsigned char* moved = realloc(block[i], usable + i % 3 * 5000);
      Require(moved != NULL && Marked(moved, usable, i), "realloc lost the contents");
      free(moved);
    }
    if (size <= 100000) {
      printf("%zu: %zu\n", size, least);
    } else {
      printf("%zu: sound\n", size);
    }
  }
  printf("NULL: %zu\n", malloc_usable_size(NULL));
  return 0;
}
