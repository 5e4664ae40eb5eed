// A program that gives ranges of addresses back and takes them again.
//
//   take_back
//
// Fifty times: maps memory where the kernel likes, gives it back, allocates (in the first round the
// first blocks of all, so that whoever watches makes his tables then), takes the same addresses
// again by MAP_FIXED, as it may while nobody else makes mappings, and looks whether what it writes
// there stays as it is while it allocates on. Its blocks are small, so that the allocator itself
// makes no mapping either. Prints a line.

#define _GNU_SOURCE
#include <sys/mman.h>

#include "tests/targets/support.h"

enum { kBytes = 1 << 20, kRounds = 50, kBlocks = 20000 };

static HG_NOINLINE size_t Churn(int depth, size_t seed) {
  if (depth > 0) return Churn(depth - 1, seed) + 1;
  size_t sum = 0;
  for (size_t i = 0; i < kBlocks / 10; ++i) {
    void* p = malloc(100 + (i + seed) % 50);
    Escape(p);
    sum += p != NULL;
    free(p);
  }
  return sum;
}

static void ChurnAll(size_t seed) {
  for (int depth = 0; depth < 10; ++depth) (void)Churn(depth + (int)(seed % 40), seed);
}

int main(void) {
  for (size_t round = 0; round < kRounds; ++round) {
    char* p = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(p != MAP_FAILED, "mmap");
    Require(munmap(p, kBytes) == 0, "munmap");
    ChurnAll(round);
    char* again =
        mmap(p, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    Require(again == p, "mmap at a place of its own");
    memset(p, 2, kBytes);
    ChurnAll(round);
    for (size_t i = 0; i < kBytes; ++i) Require(p[i] == 2, "memory that nobody else has");
    Require(munmap(p, kBytes) == 0, "munmap");
  }
  printf("all taken back\n");
  return 0;
}
