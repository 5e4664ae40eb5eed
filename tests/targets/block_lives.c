// Blocks of known lives, each kind from a function of its own:
//
//   Churn   1000 blocks of 100 bytes, each freed before the next
//   Keep    50 blocks of 3000 bytes that are never freed
//   Grow    20 buffers, each from 64 bytes to 64 KiB by doubling (10 calls of realloc), then freed
//   Pin     8192 blocks of 48 bytes, of which each 128th stays: pages that a small block keeps
//   Large   5 blocks of 1 MiB that are freed at once
//   Align   10 blocks at multiples of 256 bytes, never freed
//   Handed  30 blocks of 500 bytes which a second thread frees
//   Slow    1 block that is freed after 50 ms
//
// Output: "done".

#include <pthread.h>
#include <time.h>

#include "tests/targets/support.h"

static void* handed[30];
static void* pinned[8192];

static HG_NOINLINE void Churn(void) {
  for (int i = 0; i < 1000; ++i) {
    void* p = malloc(100);
    Escape(p);
    free(p);
  }
}

static HG_NOINLINE void Keep(void) {
  for (int i = 0; i < 50; ++i) Escape(malloc(3000));
}

static HG_NOINLINE void Grow(void) {
  for (int i = 0; i < 20; ++i) {
    void* p = malloc(64);
    for (size_t size = 128; size <= 64 << 10; size *= 2) {
      p = realloc(p, size);
      Escape(p);
    }
    free(p);
  }
}

static HG_NOINLINE void Pin(void) {
  for (int i = 0; i < 8192; ++i) pinned[i] = malloc(48);
  for (int i = 0; i < 8192; ++i) {
    if (i % 128 != 0) free(pinned[i]);
  }
}

static HG_NOINLINE void Large(void) {
  for (int i = 0; i < 5; ++i) {
    void* p = malloc(1 << 20);
    Escape(p);
    free(p);
  }
}

static HG_NOINLINE void Align(void) {
  for (int i = 0; i < 10; ++i) Escape(aligned_alloc(256, 512));
}

static HG_NOINLINE void Handed(void) {
  for (int i = 0; i < 30; ++i) handed[i] = malloc(500);
}

static void* FreeThem(void* unused) {
  for (int i = 0; i < 30; ++i) free(handed[i]);
  return unused;
}

static HG_NOINLINE void Slow(void) {
  void* p = malloc(777);
  Escape(p);
  const struct timespec pause = {0, 50 * 1000 * 1000};
  nanosleep(&pause, NULL);
  free(p);
}

int main(void) {
  Churn();
  Keep();
  Grow();
  Pin();
  Large();
  Align();
  Handed();
  pthread_t thread;
  Require(pthread_create(&thread, NULL, FreeThem, NULL) == 0, "a thread");
  pthread_join(thread, NULL);
  Slow();
  puts("done");
  return 0;
}
