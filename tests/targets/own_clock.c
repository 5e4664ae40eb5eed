// A program with a clock_gettime of its own, as simulations have: it takes a lock and allocates.
// Whoever calls it from inside malloc waits for ever. Prints "done".

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/targets/support.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* last;

int clock_gettime(clockid_t clock, struct timespec* now) {
  pthread_mutex_lock(&mutex);
  free(last);
  last = malloc(200);
  pthread_mutex_unlock(&mutex);
  return (int)syscall(SYS_clock_gettime, clock, now);
}

int main(void) {
  alarm(60);
  struct timespec now;
  for (int i = 0; i < 100000; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    void* block = malloc(300);
    Escape(block);
    free(block);
  }
  puts("done");
  return 0;
}
