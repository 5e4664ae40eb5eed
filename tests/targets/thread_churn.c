// Thousands of short threads that allocate, hand blocks to each other, and end.
//
//   thread_churn [THREADS]      default 5000, at most 16 at a time
//
// Each thread frees the block its predecessor left behind and leaves one of its own. Prints a sum.

#include <pthread.h>

#include "tests/targets/support.h"

enum { kAtOnce = 16 };

struct Job {
  void* inherited;
  size_t inherited_size;
  void* left;
  size_t left_size;
  uint64_t seed;
  uint64_t sum;
};

static void* Run(void* argument) {
  struct Job* job = argument;
  if (job->inherited != NULL) {
    Require(Marked(job->inherited, job->inherited_size, 9), "a passed-on block was damaged");
    free(job->inherited);
  }
  job->sum = Exercise(job->seed, 50);
  job->left_size = 1 + (size_t)(job->seed * 7919 % 40000);
  job->left = AllocateAt(job->seed, 4, job->left_size);
  Mark(job->left, job->left_size, 9);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 5000;
  static struct Job jobs[kAtOnce];
  pthread_t ids[kAtOnce];
  uint64_t sum = 0;
  int started = 0;
  while (started < threads) {
    int now = 0;
    for (; now < kAtOnce && started < threads; ++now, ++started) {
      struct Job* job = &jobs[now];
      job->inherited = job->left;
      job->inherited_size = job->left_size;
      job->seed = (uint64_t)started + 1;
      Require(pthread_create(&ids[now], NULL, Run, job) == 0, "cannot start a thread");
    }
    for (int i = 0; i < now; ++i) {
      pthread_join(ids[i], NULL);
      sum = sum * 31 + jobs[i].sum;
    }
  }
  for (int i = 0; i < kAtOnce; ++i) free(jobs[i].left);
  printf("%d threads, sum %lx\n", started, (unsigned long)sum);
  return 0;
}
