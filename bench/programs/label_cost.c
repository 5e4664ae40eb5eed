// CPU time of what stands in request handlers: `label_cost ROUNDS`
//
// Prints nanoseconds per round of: two nested label scopes whose texts change between four, one
// scope, a report of a pool's block with its free. Run with and without sampling, and while the
// agent sleeps.

#include <time.h>

#include "include/heapgauge/heapgauge.h"
#include "tests/targets/support.h"

static uint64_t CpuNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char* const kHandlers[] = {"search", "suggest", "index/update", "health"};

static HG_NOINLINE void Two(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    const int64_t handler = heapgauge_push_label("handler", kHandlers[i & 3]);
    const int64_t tenant = heapgauge_push_label("tenant", "an ordinary name");
    heapgauge_pop_label(tenant);
    heapgauge_pop_label(handler);
  }
}

static HG_NOINLINE void One(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    heapgauge_pop_label(heapgauge_push_label("handler", kHandlers[i & 3]));
  }
}

static HG_NOINLINE void Pool(long rounds) {
  static char arena[64 * 1024];
  const int pool = heapgauge_pool("arena");
  for (long i = 0; i < rounds; ++i) {
    char* block = arena + (i & 511) * 64;
    heapgauge_pool_allocated(pool, block, 64);
    heapgauge_pool_freed(pool, block);
  }
}

static void Measure(const char* what, void (*work)(long), long rounds) {
  work(rounds / 10 + 1000);
  const uint64_t start = CpuNs();
  work(rounds);
  printf("%s %.1f\n", what, (double)(CpuNs() - start) / (double)rounds);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: label_cost ROUNDS\n");
    return 2;
  }
  const long rounds = atol(argv[1]);
  Measure("two", Two, rounds);
  Measure("one", One, rounds);
  Measure("pool", Pool, rounds);
  return 0;
}
