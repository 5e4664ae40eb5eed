// Opens files until it may open no more, and then has threads allocate for the first time.
#include <pthread.h>

#include "tests/targets/support.h"

enum { kThreads = 40, kPairs = 1000 };

static void* Run(void* unused) {
  (void)unused;
  for (int i = 0; i < kPairs; ++i) {
    void* p = malloc(100);
    Escape(p);
    free(p);
  }
  return NULL;
}

int main(void) {
  int opened = 0;
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 && opened < 100000) ++opened;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    Require(pthread_create(&threads[i], NULL, Run, NULL) == 0, "pthread_create");
  }
  for (int i = 0; i < kThreads; ++i) Require(pthread_join(threads[i], NULL) == 0, "pthread_join");
  puts("done");
  return 0;
}
