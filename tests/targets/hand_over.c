// Blocks that one thread makes and another frees at once: the shortest time there can be between
// the two.
//
//   hand_over [BLOCKS]
//
// Two threads, each on a processor of its own if there are two, put each new block into one of four
// places and free whatever was there. The first one has begun with that when the second comes.
// Prints a line.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/targets/support.h"

enum { kPlaces = 4 };

static struct { _Alignas(64) _Atomic(void*) block; } places[kPlaces];
static unsigned long blocks = 1000000;

static void Exchange(unsigned long count, size_t size) {
  for (unsigned long i = 0; i < count; ++i) {
    void* p = malloc(size);
    Require(p != NULL, "out of memory");
    free(atomic_exchange(&places[i % kPlaces].block, p));
  }
}

static void StayOn(size_t number) {
  cpu_set_t processor;
  CPU_ZERO(&processor);
  CPU_SET(number, &processor);
  pthread_setaffinity_np(pthread_self(), sizeof processor, &processor);
}

static void* Second(void* unused) {
  (void)unused;
  StayOn(1);
  Exchange(blocks, 40);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) blocks = strtoul(argv[1], NULL, 10);
  StayOn(0);
  Exchange(blocks / 10, 24);
  pthread_t second;
  Require(pthread_create(&second, NULL, Second, NULL) == 0, "pthread_create");
  Exchange(blocks, 24);
  pthread_join(second, NULL);
  for (int i = 0; i < kPlaces; ++i) free(atomic_exchange(&places[i].block, NULL));
  printf("all handed over\n");
  return 0;
}
