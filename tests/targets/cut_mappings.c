// Cuts mappings in the middle: a large one first, which is then given back, and small ones that
// stay. Prints the most bytes that were mapped at once, what is left, and how many pieces the cuts
// made.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096, kLargePages = 4096, kRounds = 50 };

static char* map(size_t pages) {
  return mmap(NULL, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  char* large = map(kLargePages);
  munmap(large + kLargePages / 2 * kPage, kPage);  // 2 pieces
  munmap(large, (size_t)kLargePages * kPage);
  for (int i = 0; i < kRounds; ++i) {
    char* small = map(10);
    munmap(small + 3 * kPage, 2 * kPage);  // 3 pages and 5
    munmap(small + 7 * kPage, kPage);      // 3, 2 and 2
  }
  printf("peak %d\nleft %d\npieces %d\n", kLargePages * kPage, kRounds * 7 * kPage,
         2 + kRounds * 4);
  return 0;
}
