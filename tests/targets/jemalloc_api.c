// A program that is linked to jemalloc and uses jemalloc's own interface.
//
// Prints one line for each function. Not for use with another allocator preloaded.

#include <jemalloc/jemalloc.h>

#include "tests/targets/support.h"

enum { kRounds = 5000 };

static HG_NOINLINE void* TakeX(size_t size, int flags) {
  void* p = mallocx(size, flags);
  Escape(p);
  return p;
}

int main(void) {
  uint64_t random = 1;
  uint64_t sizes = 0;
  for (int i = 0; i < kRounds; ++i) {
    const size_t size = RandomSize(&random, 200000);
    const int flags = i % 3 == 0 ? MALLOCX_ALIGN(4096) : i % 3 == 1 ? MALLOCX_ZERO : 0;
    unsigned char* p = TakeX(size, flags);
    Require(p != NULL, "out of memory");
    if (i % 3 == 0) Require(((uintptr_t)p & 4095) == 0, "not aligned");
    if (i % 3 == 1) Require(Marked(p, size, 0), "not zeroed");
    Require(sallocx(p, flags) >= size, "sallocx is too small");
    Require(i % 3 == 0 || sallocx(p, flags) == nallocx(size, flags), "sallocx and nallocx differ");
    Mark(p, size, 5);
    if (i % 2 == 0) {
      const size_t larger = size + RandomSize(&random, 50000);
      p = rallocx(p, larger, flags);
      Require(p != NULL && p[0] == 5 && p[size - 1] == 5, "rallocx lost the contents");
      const size_t now = xallocx(p, larger, 1000, flags);
      Require(now >= larger, "xallocx shrank the block");
      sizes += now;
      if (i % 4 == 0) {
        dallocx(p, flags);
      } else {
        sdallocx(p, now, flags);
      }
    } else {
      sizes += sallocx(p, flags);
      sdallocx(p, size, flags);
    }
  }
  printf("mallocx, rallocx, xallocx, sallocx, dallocx, sdallocx: %d rounds\n", kRounds);
  printf("sizes seen: %s\n", YesNo(sizes > 0));
  printf("nallocx(100): %zu, nallocx(5000): %zu\n", nallocx(100, 0), nallocx(5000, 0));
  printf("mallocx of absurd size: %s\n", YesNo(TakeX((size_t)1 << 62, 0) != NULL));
  printf("sum %lx\n", (unsigned long)Exercise(1, 20000));
  return 0;
}
