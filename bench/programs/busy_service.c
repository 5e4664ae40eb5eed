// A service at work, for measuring what fetching its profile does to it: `busy_service MIB`
//
// Holds MIB of blocks from thousands of stacks, prints "ready", and reads a line. Then it serves
// made-up requests, each some twenty allocations and frees, until the end of standard input, and
// prints every 250 ms:
//
//   requests LONGEST_NS WAITED_NS
//
// LONGEST_NS is the longest single malloc or free, whatever the machine did meanwhile. WAITED_NS is
// the longest in a batch of requests in which the thread gave up its core to wait for something,
// such as a lock or the address space, and did not lose it otherwise: that was somebody's doing who
// shares the process with it. 0 if it never waited.
#define _GNU_SOURCE
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/targets/support.h"

enum { kBlocks = 20, kBatch = 16 };

static uint64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct Switches {
  long lost;    // the core was taken away
  long waited;  // it was given up
};

static struct Switches CountSwitches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (struct Switches){usage.ru_nivcsw, usage.ru_nvcsw};
}

static uint64_t ServeRequest(uint64_t* random) {
  void* blocks[kBlocks];
  uint64_t longest = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const size_t size = (size_t)64 << NextRandom(random) % 7;
    const uint64_t before = Now();
    blocks[i] = AllocateAt(NextRandom(random) >> 20, 6, size);
    const uint64_t took = Now() - before;
    if (took > longest) longest = took;
    memset(blocks[i], i, 64);
  }
  for (int i = 0; i < kBlocks; ++i) {
    const uint64_t before = Now();
    free(blocks[i]);
    const uint64_t took = Now() - before;
    if (took > longest) longest = took;
  }
  return longest;
}

static int InputEnded(void) {
  struct pollfd input = {0, POLLIN, 0};
  char byte;
  return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

int main(int argc, char** argv) {
  const uint64_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 200) << 20;
  uint64_t random = 12345;
  for (uint64_t held = 0; held < bytes; held += 4096) {
    Require(AllocateAt(NextRandom(&random) >> 20, 12, 4096) != NULL, "out of memory");
  }
  puts("ready");
  fflush(stdout);
  char line[16];
  Require(fgets(line, sizeof line, stdin) != NULL, "no line to begin");
  while (!InputEnded()) {
    const uint64_t until = Now() + 250000000u;
    uint64_t requests = 0;
    uint64_t longest = 0;
    uint64_t waited = 0;
    while (Now() < until) {
      const struct Switches before = CountSwitches();
      uint64_t in_batch = 0;
      for (int i = 0; i < kBatch; ++i) {
        const uint64_t took = ServeRequest(&random);
        if (took > in_batch) in_batch = took;
      }
      requests += kBatch;
      if (in_batch > longest) longest = in_batch;
      if (in_batch > waited) {
        const struct Switches after = CountSwitches();
        if (after.lost == before.lost && after.waited != before.waited) waited = in_batch;
      }
    }
    printf("%lu %lu %lu\n", (unsigned long)requests, (unsigned long)longest, (unsigned long)waited);
    fflush(stdout);
  }
  return 0;
}
