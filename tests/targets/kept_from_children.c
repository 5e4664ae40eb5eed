// Holds its blocks by memory that a forked copy of it lacks.
//
//   kept_from_children
//
// It is larger than what is looked at in place. One block is lost for good.

#include <sys/mman.h>

#include "tests/targets/support.h"

enum { kBlocks = 400, kBytes = 100000 };

static HG_NOINLINE void Forget(void) {
  void* volatile lost = malloc(3000);
  Require(lost != NULL, "out of memory");
  lost = NULL;
}

int main(void) {
  void** kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Require(kept != MAP_FAILED, "mmap");
  Require(madvise(kept, 4096, MADV_DONTFORK) == 0, "madvise");
  for (int i = 0; i < kBlocks; ++i) {
    kept[i] = malloc(kBytes);
    Require(kept[i] != NULL, "out of memory");
    memset(kept[i], 1, kBytes);
  }
  Forget();
  printf("ready\n");
  return 0;
}
