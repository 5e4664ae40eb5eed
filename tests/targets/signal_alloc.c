// A timer signal whose handler allocates and frees, on an alternate stack, while main allocates.
//
//   signal_alloc [--anywhere] [--cold]
//
// No common allocator may be entered by a handler that interrupted it. So by default the handler
// allocates only when main was outside of the allocator, which still means: in the middle of
// a leaf function, a red zone, a prologue. With --anywhere it always does, in the middle of
// malloc too; that is legal over libsignal_safe_malloc.so alone. The program
// allocates for a while before the first signal, unless --cold is given. Ends after 2,000
// allocating signals. Prints whether all blocks were sound.

#include <signal.h>
#include <sys/time.h>

#include "tests/targets/support.h"

enum { kSignals = 2000 };

static volatile sig_atomic_t in_allocator;
static volatile sig_atomic_t handled;
static int anywhere;
static void* volatile from_handler[16];

static HG_NOINLINE void AllocateInHandler(unsigned turn) {
  const unsigned slot = turn % 16;
  void* old = from_handler[slot];
  if (old != NULL) {
    Require(Marked(old, 600, slot), "a handler's block was damaged");
    free(old);
  }
  void* p = AllocateAt(turn, 3, 600);
  Require(p != NULL, "out of memory");
  Mark(p, 600, slot);
  from_handler[slot] = p;
}

// Shot by shot, so that main gets on even if the handler should take longer than the pause.
static void StartTimer(void) {
  static uint64_t random = 7;
  const struct itimerval shot = {{0, 0}, {0, 20 + (long)(NextRandom(&random) % 200)}};
  setitimer(ITIMER_REAL, &shot, NULL);
}

static void OnTimer(int signal) {
  (void)signal;
  if (handled == kSignals) return;
  if (!in_allocator || anywhere) {
    AllocateInHandler((unsigned)handled);
    handled = handled + 1;
  }
  StartTimer();
}

// Something to interrupt that is not the allocator.
static HG_NOINLINE uint64_t Compute(uint64_t x) {
  for (int i = 0; i < 400; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

int main(int argc, char** argv) {
  int cold = 0;
  for (int i = 1; i < argc; ++i) {
    anywhere |= strcmp(argv[i], "--anywhere") == 0;
    cold |= strcmp(argv[i], "--cold") == 0;
  }
  if (!cold) Exercise(1, 20000);
  static char stack[256 * 1024];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  Require(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
  struct sigaction action = {.sa_handler = OnTimer, .sa_flags = SA_ONSTACK | SA_RESTART};
  Require(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
  StartTimer();

  void* block[64] = {0};
  size_t size[64] = {0};
  uint64_t random = 17;
  uint64_t x = 1;
  while (handled < kSignals) {
    const size_t slot = (size_t)(NextRandom(&random) % 64);
    if (block[slot] != NULL) Require(Marked(block[slot], size[slot], 77), "a block was damaged");
    const size_t wanted = RandomSize(&random, 4096);
    in_allocator = 1;
    free(block[slot]);
    block[slot] = malloc(wanted);
    in_allocator = 0;
    Require(block[slot] != NULL, "out of memory");
    size[slot] = wanted;
    Mark(block[slot], wanted, 77);
    x = Compute(x);
  }
  for (int i = 0; i < 64; ++i) free(block[i]);
  for (int i = 0; i < 16; ++i) free(from_handler[i]);
  printf("%d signals handled, all blocks sound%s\n", kSignals, x == 0 ? "!" : "");
  return 0;
}
