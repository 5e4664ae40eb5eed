// Threads that allocate and free without pause while another one sends them signals, whose handler
// allocates and frees as well, wherever it came in between.
//
//   signal_threads [SIGNALS [THREADS]]
//
// Legal over libsignal_safe_malloc.so alone. Ends after so many signals (20,000) to so many threads
// (4). Prints "done ALLOCATIONS FREES", which counts what these threads did, handlers included.

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "tests/targets/support.h"

enum { kMaxThreads = 64, kSlots = 64 };

static volatile sig_atomic_t stop;
static uint64_t allocations;
static uint64_t frees;
static __thread volatile sig_atomic_t handled;

static void OnSignal(int signal) {
  (void)signal;
  void* p = malloc(100);
  Require(p != NULL, "out of memory");
  Escape(p);
  Mark(p, 100, 5);
  Require(Marked(p, 100, 5), "a handler's block was damaged");
  free(p);
  handled = handled + 1;
}

static void* Run(void* argument) {
  uint64_t random = (uintptr_t)argument * 2 + 1;
  void* block[kSlots] = {0};
  uint64_t taken = 0;
  while (!stop) {
    const size_t slot = (size_t)(NextRandom(&random) % kSlots);
    free(block[slot]);
    block[slot] = malloc(16 + (size_t)(NextRandom(&random) % 1000));
    Require(block[slot] != NULL, "out of memory");
    ++taken;
  }
  for (int i = 0; i < kSlots; ++i) free(block[i]);
  // What is still on its way does not count.
  sigset_t all_signals;
  sigfillset(&all_signals);
  pthread_sigmask(SIG_BLOCK, &all_signals, NULL);
  const uint64_t all = taken + (uint64_t)handled;
  __atomic_fetch_add(&allocations, all, __ATOMIC_RELAXED);
  __atomic_fetch_add(&frees, all, __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  const long signals = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
  const long threads = argc > 2 ? strtol(argv[2], NULL, 10) : 4;
  Require(signals > 0 && threads > 0 && threads <= kMaxThreads,
          "usage: signal_threads [SIGNALS [THREADS]]");
  struct sigaction action = {.sa_handler = OnSignal, .sa_flags = SA_RESTART};
  Require(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
  pthread_t ids[kMaxThreads];
  for (long t = 0; t < threads; ++t) {
    Require(pthread_create(&ids[t], NULL, Run, (void*)(uintptr_t)t) == 0, "pthread_create");
  }
  for (long i = 0; i < signals; ++i) {
    Require(pthread_kill(ids[i % threads], SIGUSR1) == 0, "pthread_kill");
    if (i % 4 == 0) sched_yield();
  }
  stop = 1;
  for (long t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
  printf("done %lu %lu\n", allocations, frees);
  return 0;
}
