// A signal handler that leaves with siglongjmp, thousands of times, while main allocates.
//
//   longjmp_handler [--anywhere] [--cold]
//
// By default the jump is taken only when main was outside of the allocator. With --anywhere it is
// taken in the middle of malloc and of whatever wraps it, too; that is legal over
// libsignal_safe_malloc.so alone. The program allocates for a while before the first signal; with
// --cold it does not, so that the first jumps may hit a profiler that is still setting itself up.
// After 3,000 jumps the program allocates 2,000 times without signals, so that a profiler that was
// left confused is seen. Prints whether all blocks were sound.

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/targets/support.h"

enum { kJumps = 3000 };

static sigjmp_buf again;
static volatile sig_atomic_t in_allocator;
static volatile sig_atomic_t armed;
static volatile sig_atomic_t jumps;
static int anywhere;

// Shot by shot, so that main gets on; the pause varies, so that the shots hit different places.
static void StartTimer(void) {
  static uint64_t random = 7;
  const struct itimerval shot = {{0, 0}, {0, 20 + (long)(NextRandom(&random) % 200)}};
  setitimer(ITIMER_REAL, &shot, NULL);
}

static void OnTimer(int signal) {
  (void)signal;
  if (jumps == kJumps) return;
  StartTimer();
  if (!armed || (in_allocator && !anywhere)) return;
  armed = 0;
  jumps = jumps + 1;
  siglongjmp(again, 1);
}

static HG_NOINLINE uint64_t Compute(uint64_t x) {
  for (int i = 0; i < 200; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

// Calls itself `depth` times, so that the jump leaves frames of different depths behind.
static HG_NOINLINE uint64_t AllocateDeep(unsigned depth, uint64_t x) {
  if (depth > 0) return AllocateDeep(depth - 1, x) + 1;
  for (int i = 0; i < 50; ++i) {
    in_allocator = 1;
    void* p = AllocateAt(x, 3, 500 + (size_t)(x % 3000));
    in_allocator = 0;
    Require(p != NULL, "out of memory");
    Mark(p, 500, 3);
    x = Compute(x);
    Require(Marked(p, 500, 3), "a block was damaged");
    in_allocator = 1;
    free(p);
    in_allocator = 0;
  }
  return x;
}

int main(int argc, char** argv) {
  int cold = 0;
  for (int i = 1; i < argc; ++i) {
    anywhere |= strcmp(argv[i], "--anywhere") == 0;
    cold |= strcmp(argv[i], "--cold") == 0;
  }
  if (!cold) Exercise(1, 20000);
  struct sigaction action = {.sa_handler = OnTimer};
  Require(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
  StartTimer();

  volatile uint64_t x = 1;
  sigsetjmp(again, 1);
  in_allocator = 0;
  while (jumps < kJumps) {
    armed = 1;
    x = AllocateDeep((unsigned)(x % 20), x);
    armed = 0;
  }
  armed = 0;
  for (int i = 0; i < 2000; ++i) {
    void* p = AllocateAt((uint64_t)i, 4, 3000);
    Mark(p, 3000, (unsigned)i);
    Require(Marked(p, 3000, (unsigned)i), "a block was damaged");
    free(p);
  }
  printf("%d jumps, all blocks sound\n", kJumps);
  return 0;
}
