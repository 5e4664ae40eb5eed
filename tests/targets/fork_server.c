// A pre-forking server: the parent loads data, forks workers, and each uses the inherited memory,
// frees part of it, and works on its own.
//
//   fork_server [WORKERS] [--hold]
//
// LoadData takes 32 MiB in the parent, WorkerCache keeps 8 MiB in each worker. Prints one line for
// each worker, in order. With --hold the workers then wait until standard input ends.

#include <sys/wait.h>

#include "tests/targets/support.h"

enum { kTables = 2048, kTableBytes = 16 * 1024, kCacheBlocks = 1024, kCacheBytes = 8 * 1024 };

static unsigned char* table[kTables];
static void* cache[kCacheBlocks];

static HG_NOINLINE void LoadData(void) {
  for (int i = 0; i < kTables; ++i) {
    table[i] = malloc(kTableBytes);
    Require(table[i] != NULL, "out of memory");
    memset(table[i], i, kTableBytes);
  }
}

static HG_NOINLINE void WorkerCache(int worker) {
  for (int i = 0; i < kCacheBlocks; ++i) {
    cache[i] = malloc(kCacheBytes);
    Require(cache[i] != NULL, "out of memory");
    memset(cache[i], worker, kCacheBytes);
  }
}

static int Worker(int number, int out, int hold) {
  uint64_t sum = 0;
  for (int i = 0; i < kTables; ++i) sum += table[i][i];
  for (int i = 0; i < kTables; i += 4) {
    free(table[i]);
    table[i] = NULL;
  }
  WorkerCache(number);
  sum = sum * 31 + Exercise((uint64_t)number, 20000);
  Require(write(out, &sum, sizeof sum) == sizeof sum, "write");
  close(out);
  if (hold) {
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  int workers = 4;
  int hold = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--hold") == 0) {
      hold = 1;
    } else {
      workers = atoi(argv[i]);
    }
  }
  Require(workers >= 1 && workers <= 64, "1 to 64 workers");
  LoadData();
  int out[64];
  for (int w = 0; w < workers; ++w) {
    int ends[2];
    Require(pipe(ends) == 0, "pipe");
    const pid_t child = fork();
    Require(child >= 0, "fork");
    if (child == 0) {
      close(ends[0]);
      exit(Worker(w, ends[1], hold));
    }
    close(ends[1]);
    out[w] = ends[0];
  }
  for (int w = 0; w < workers; ++w) {
    uint64_t sum = 0;
    Require(read(out[w], &sum, sizeof sum) == sizeof sum, "a worker said nothing");
    printf("worker %d: sum %lx\n", w, (unsigned long)sum);
  }
  fflush(stdout);
  int failed = 0;
  for (int w = 0; w < workers; ++w) {
    int status = 0;
    Require(wait(&status) > 0, "wait");
    failed += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  printf("failed workers: %d\n", failed);
  return 0;
}
