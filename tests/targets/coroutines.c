// Coroutines on stacks of their own (makecontext) that allocate, are switched at random, and whose
// stacks are unmapped when they end, so that remembered stack addresses become invalid.
//
//   coroutines [COUNT]     default 500, 16 alive at a time
//
// Prints a sum. Stacks have a guard page on both sides.

#include <sys/mman.h>
#include <ucontext.h>

#include "tests/targets/support.h"

enum { kAlive = 16, kStackBytes = 64 * 1024, kPage = 4096 };

struct Coroutine {
  ucontext_t context;
  char* mapping;
  uint64_t random;
  uint64_t sum;
  int ended;
};

static struct Coroutine alive[kAlive];
static ucontext_t scheduler;

static HG_NOINLINE void Work(struct Coroutine* self, unsigned depth) {
  if (depth > 0) {
    Work(self, depth - 1);
    return;
  }
  for (int i = 0; i < 20; ++i) {
    const size_t size = RandomSize(&self->random, 20000);
    void* p = AllocateAt(self->random, 4, size);
    Mark(p, size, (unsigned)i);
    swapcontext(&self->context, &scheduler);
    Require(Marked(p, size, (unsigned)i), "a block was damaged");
    free(p);
    self->sum = self->sum * 31 + size;
  }
}

static void Start(int index) {
  struct Coroutine* self = &alive[index];
  Work(self, (unsigned)(self->random % 30));
  self->ended = 1;  // uc_link leads back to the scheduler
}

static void Create(int index, uint64_t seed) {
  struct Coroutine* self = &alive[index];
  self->mapping =
      mmap(NULL, kStackBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Require(self->mapping != MAP_FAILED, "mmap");
  Require(mprotect(self->mapping + kPage, kStackBytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
  self->random = seed * 0x9e3779b97f4a7c15u | 1;
  self->sum = seed;
  self->ended = 0;
  getcontext(&self->context);
  self->context.uc_stack.ss_sp = self->mapping + kPage;
  self->context.uc_stack.ss_size = kStackBytes;
  self->context.uc_link = &scheduler;
  makecontext(&self->context, (void (*)(void))Start, 1, index);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 500;
  int created = 0;
  int finished = 0;
  uint64_t sum = 0;
  uint64_t random = 12345;
  while (finished < count) {
    const int index = (int)(NextRandom(&random) % kAlive);
    struct Coroutine* chosen = &alive[index];
    if (chosen->mapping == NULL) {
      if (created == count) continue;
      Create(index, (uint64_t)++created);
    }
    swapcontext(&scheduler, &chosen->context);
    if (chosen->ended) {
      sum += chosen->sum;
      munmap(chosen->mapping, kStackBytes + 2 * kPage);
      chosen->mapping = NULL;
      chosen->ended = 0;
      ++finished;
    }
  }
  printf("%d coroutines, sum %lx\n", finished, (unsigned long)sum);
  return 0;
}
