// Blocks that one thread makes and another frees at once: the shortest time there can be between
// the two.
//
//   hand_over [BLOCKS]
//
// Two threads, each on a processor of its own if there are two, put each new block into one of four
// places and free whatever was there. Prints a line.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/targets/support.h"

enum { kPlaces = 4 };

static struct { _Alignas(64) _Atomic(void*) block; } places[kPlaces];
static unsigned long blocks = 1000000;

static void* Exchange(void* argument) {
  cpu_set_t processor;
  CPU_ZERO(&processor);
  CPU_SET((size_t)argument, &processor);
  pthread_setaffinity_np(pthread_self(), sizeof processor, &processor);
  for (unsigned long i = 0; i < blocks; ++i) {
    void* p = malloc(24 + 16 * (size_t)argument);
    Require(p != NULL, "out of memory");
    free(atomic_exchange(&places[i % kPlaces].block, p));
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) blocks = strtoul(argv[1], NULL, 10);
  pthread_t thread[2];
  for (size_t i = 0; i < 2; ++i) {
    Require(pthread_create(&thread[i], NULL, Exchange, (void*)i) == 0, "pthread_create");
  }
  for (size_t i = 0; i < 2; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < kPlaces; ++i) free(atomic_exchange(&places[i].block, NULL));
  printf("all handed over\n");
  return 0;
}
