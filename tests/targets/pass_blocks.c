// Pairs of threads: one allocates blocks of one size and passes them on, the other frees them at
// once. So an address is freed by one thread and soon handed out to another, again and again.
//
//   pass_blocks [BLOCKS [PAIRS]]
//
// Each pair passes so many blocks (100,000); there are so many pairs (2). Prints "passed BLOCKS".

#include <pthread.h>
#include <sched.h>

#include "tests/targets/support.h"

enum { kMaxPairs = 16, kRing = 16 };

struct Pair {
  void* ring[kRing];  // NULL: free
  long blocks;
};

static void* Allocate(void* argument) {
  struct Pair* pair = argument;
  for (long i = 0; i < pair->blocks; ++i) {
    void* p = malloc(64);
    Require(p != NULL, "out of memory");
    Mark(p, 64, (unsigned)i);
    void** place = &pair->ring[i % kRing];
    while (__atomic_load_n(place, __ATOMIC_ACQUIRE) != NULL) sched_yield();
    __atomic_store_n(place, p, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void* Free(void* argument) {
  struct Pair* pair = argument;
  for (long i = 0; i < pair->blocks; ++i) {
    void** place = &pair->ring[i % kRing];
    void* p;
    while ((p = __atomic_load_n(place, __ATOMIC_ACQUIRE)) == NULL) sched_yield();
    Require(Marked(p, 64, (unsigned)i), "a block was damaged");
    free(p);
    __atomic_store_n(place, NULL, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long blocks = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
  const long pairs = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
  Require(blocks > 0 && pairs > 0 && pairs <= kMaxPairs, "usage: pass_blocks [BLOCKS [PAIRS]]");
  static struct Pair pair[kMaxPairs];
  pthread_t ids[2 * kMaxPairs];
  for (long i = 0; i < pairs; ++i) {
    pair[i].blocks = blocks;
    Require(pthread_create(&ids[2 * i], NULL, Allocate, &pair[i]) == 0 &&
                pthread_create(&ids[2 * i + 1], NULL, Free, &pair[i]) == 0,
            "pthread_create");
  }
  for (long i = 0; i < 2 * pairs; ++i) pthread_join(ids[i], NULL);
  printf("passed %ld\n", blocks * pairs);
  return 0;
}
