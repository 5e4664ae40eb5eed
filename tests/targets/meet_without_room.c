// Threads that wait for each other, each with a block, where no file may grow any more.
//
//   meet_without_room
//
// Allocates; sets RLIMIT_FSIZE to nothing; starts 64 threads that each allocate, meet, and free. A
// tracer that cannot get another buffer must not have one thread wait for what another holds.
// Prints a line.

#include <pthread.h>
#include <sys/resource.h>

#include "tests/targets/support.h"

enum { kThreads = 64 };

static pthread_barrier_t meeting;

static void* Meet(void* argument) {
  (void)argument;
  void* p = malloc(100);
  Require(p != NULL, "out of memory");
  Escape(p);
  pthread_barrier_wait(&meeting);
  free(p);
  pthread_barrier_wait(&meeting);
  return NULL;
}

int main(void) {
  Exercise(1, 20000);
  const struct rlimit limit = {0, 0};
  Require(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  Require(pthread_barrier_init(&meeting, NULL, kThreads) == 0, "pthread_barrier_init");
  pthread_t thread[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    Require(pthread_create(&thread[i], NULL, Meet, NULL) == 0, "pthread_create");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(thread[i], NULL);
  printf("all have met\n");
  return 0;
}
