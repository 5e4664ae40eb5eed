// Blocks that one thread makes and another frees at once: the shortest time there can be between
// the two.
//
//   hand_over [BLOCKS]
//
// Two threads, each on a processor of its own if there are two, put each new block into one of four
// places and free whatever was there. The first one has begun with that when the second comes. Then
// one puts blocks into any of eight places that are empty, and the other looks for them there: what
// it finds it frees while its processor may not yet know that it is there. Prints a line.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

enum { kBoxes = 8 };

static struct { _Alignas(64) _Atomic(void*) block; } boxes[kBoxes];
static atomic_bool all_put;

static void PutIntoBoxes(void) {
  uint32_t random = 1;
  for (unsigned long i = 0; i < blocks;) {
    random = random * 1664525 + 1013904223;
    _Atomic(void*)* box = &boxes[random >> 29].block;
    if (atomic_load_explicit(box, memory_order_relaxed) != NULL) continue;
    atomic_store_explicit(box, malloc(64), memory_order_release);
    ++i;
  }
  atomic_store(&all_put, true);
}

static void EmptyBoxes(void) {
  for (bool last = false; !last;) {
    last = atomic_load(&all_put);
    for (int i = 0; i < kBoxes; ++i) {
      void* p = atomic_load_explicit(&boxes[i].block, memory_order_acquire);
      if (p == NULL) continue;
      free(p);
      atomic_store_explicit(&boxes[i].block, NULL, memory_order_release);
    }
  }
}

static void* Second(void* unused) {
  (void)unused;
  StayOn(1);
  Exchange(blocks, 40);
  EmptyBoxes();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) blocks = strtoul(argv[1], NULL, 10);
  StayOn(0);
  Exchange(blocks / 10, 24);
  pthread_t second;
  Require(pthread_create(&second, NULL, Second, NULL) == 0, "pthread_create");
  Exchange(blocks, 24);
  PutIntoBoxes();
  pthread_join(second, NULL);
  for (int i = 0; i < kPlaces; ++i) free(atomic_exchange(&places[i].block, NULL));
  printf("all handed over\n");
  return 0;
}
