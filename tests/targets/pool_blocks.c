// Cuts blocks out of an arena and reports them, through heapgauge/heapgauge.h.
//
//   pool_blocks [fork]
//
// The arena is one block of the allocator. Prints "NAME LIVE_BYTES ALLOCATED_BYTES" of each pool
// and the size of the arena, exact. The first block of a pool begins where the arena does. With
// "fork" a child then frees half of the small blocks and reports new ones, and prints nothing.

#include <sys/wait.h>

#include "include/heapgauge/heapgauge.h"
#include "tests/targets/support.h"

enum { kArena = 64 << 20, kSmall = 200, kSmallCount = 120000, kLarge = 20000, kLargeCount = 1600 };

static char* arena;
static size_t used;

HG_NOINLINE void* MakeArena(size_t bytes) {
  void* p = malloc(bytes);
  Escape(p);
  return p;
}

static void* Cut(size_t bytes) {
  Require(used + bytes <= kArena, "the arena is used up");
  void* block = arena + used;
  used += bytes;
  return block;
}

HG_NOINLINE void* TakeSmall(int pool) {
  void* block = Cut(kSmall);
  heapgauge_pool_allocated(pool, block, kSmall);
  Escape(block);
  return block;
}
HG_NOINLINE void* TakeLarge(int pool) {
  void* block = Cut(kLarge);
  heapgauge_pool_allocated(pool, block, kLarge);
  Escape(block);
  return block;
}

int main(int argc, char** argv) {
  static void* small[kSmallCount];
  static char output[4096];
  setvbuf(stdout, output, _IOFBF, sizeof output);
  arena = (char*)MakeArena(kArena);
  Require(arena != NULL, "out of memory");
  const int one = heapgauge_pool("small things");
  const int two = heapgauge_pool("large things");
  Require(heapgauge_pool("small things") == one && one != two, "a name has one number");
  const int64_t token = heapgauge_push_label("stage", "fill");
  for (int i = 0; i < kSmallCount; ++i) small[i] = TakeSmall(one);
  for (int i = 0; i < kLargeCount; ++i) TakeLarge(two);
  heapgauge_pop_label(token);
  // A block of one pool at the address of another's: a pool within a pool.
  heapgauge_pool_allocated(two, small[0], kSmall);
  heapgauge_pool_freed(two, small[0]);
  for (int i = 0; i < kSmallCount; i += 2) heapgauge_pool_freed(one, small[i]);
  heapgauge_pool_freed(one, small[0]);  // twice
  heapgauge_pool_freed(-5, small[1]);
  heapgauge_pool_freed(99, small[1]);
  heapgauge_pool_allocated(-5, small[1], 1 << 30);
  heapgauge_pool_allocated(99, small[1], 1 << 30);
  printf("small %d %d\n", kSmallCount / 2 * kSmall, kSmallCount * kSmall);
  printf("large %d %d\n", kLargeCount * kLarge, kLargeCount * kLarge);
  printf("arena %d\n", kArena);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    const pid_t child = fork();
    Require(child >= 0, "cannot fork");
    if (child == 0) {
      for (int i = 1; i < kSmallCount; i += 2) heapgauge_pool_freed(one, small[i]);
      used = 0;
      for (int i = 0; i < kLargeCount; ++i) TakeLarge(heapgauge_pool("of the child"));
      _exit(0);
    }
    int status = 1;
    Require(waitpid(child, &status, 0) == child && status == 0, "the child failed");
  }
  puts("done");
  return 0;
}
