// Large blocks must stay as cheap as the allocator makes them: pages that nobody touched are not
// made resident, and a large realloc moves by mremap where it did.
//
// Prints, for each step, whether resident memory grew by more than 8 MiB. The answers belong to the
// allocator: they must be the same with and without us.

#include "tests/targets/support.h"

enum { kMiB = 1 << 20 };

static void Report(const char* what, long before_kib) {
  const long grown = StatusKiB("VmRSS:") - before_kib;
  printf("%s: grew by more than 8 MiB: %s\n", what, YesNo(grown > 8 * 1024));
}

int main(void) {
  Exercise(1, 5000);
  long before = StatusKiB("VmRSS:");
  char* p = calloc(256, kMiB);
  Require(p != NULL, "out of memory");
  Report("calloc of 256 MiB", before);
  int dirty = 0;
  for (size_t i = 0; i < (size_t)256 * kMiB; i += 16 * kMiB) dirty += p[i] != 0;
  printf("dirty bytes: %d\n", dirty);

  p[0] = 1;
  before = StatusKiB("VmRSS:");
  p = realloc(p, (size_t)512 * kMiB);
  Require(p != NULL && p[0] == 1, "realloc lost the contents");
  Report("realloc to 512 MiB", before);
  before = StatusKiB("VmRSS:");
  p = realloc(p, (size_t)64 * kMiB);
  Require(p != NULL && p[0] == 1, "realloc lost the contents");
  Report("realloc to 64 MiB", before);
  free(p);

  before = StatusKiB("VmRSS:");
  p = malloc((size_t)256 * kMiB);
  Require(p != NULL, "out of memory");
  Report("malloc of 256 MiB", before);
  free(p);

  // A buffer that grows by 1 MiB steps up to 128 MiB and is written as it grows.
  before = StatusKiB("VmRSS:");
  p = NULL;
  for (size_t size = 1; size <= 128; ++size) {
    p = realloc(p, size * kMiB);
    Require(p != NULL, "out of memory");
    memset(p + (size - 1) * kMiB, (int)size, kMiB);
  }
  int right = 0;
  for (size_t i = 0; i < 128; ++i) right += p[i * kMiB + 5] == (char)(i + 1);
  printf("grown step by step: %d of 128 right\n", right);
  free(p);

  // Many callocs of 1 MiB of which nothing is touched.
  before = StatusKiB("VmRSS:");
  static void* block[128];
  for (int i = 0; i < 128; ++i) block[i] = calloc(1, kMiB);
  Report("128 callocs of 1 MiB", before);
  for (int i = 0; i < 128; ++i) free(block[i]);
  return 0;
}
