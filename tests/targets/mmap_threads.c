// Eight threads map and unmap at the same time, each 5,000 times, and keep the last four pages of
// each ten.
//   mmap_threads       prints "ready KEPT" (in pages) and waits for the end of its input
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kThreads = 8, kRounds = 5000, kKeptEach = 20, kPage = 4096 };

static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds; ++i) {
    char* range =
        mmap(NULL, 10 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED) return (void*)1;
    munmap(range, 3 * kPage);
    munmap(range + 3 * kPage, (i % (kRounds / kKeptEach) == 0 ? 3 : 7) * kPage);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
  }
  for (int i = 0; i < kThreads; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    if (result != NULL) return 1;
  }
  printf("ready %d\n", kThreads * kKeptEach * 4);
  fflush(stdout);
  char c;
  while (read(0, &c, 1) > 0) {
  }
  return 0;
}
