// Switches the agent from within, through heapgauge/heapgauge.h, and prints what it is told.
//
//   api_control wake|switch|fork|handler
//
// wake: starts an agent that slept, and allocates with malloc alone. switch: the interval, stop,
// reset and start, with blocks in between. fork: start in a child. handler: everything from a
// signal handler, again and again, while main allocates. Each function Keep... keeps 2000 blocks
// of 4096 bytes.

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "include/heapgauge/heapgauge.h"
#include "tests/targets/support.h"

enum { kBlocks = 2000, kBytes = 4096 };

// Each keeps the same amount. The text keeps the compiler from making one function of them.
#define HG_KEEPER(name)                                       \
  HG_NOINLINE void name(void) {                               \
    __asm__ volatile("# " #name);                             \
    for (int i = 0; i < kBlocks; ++i) Escape(malloc(kBytes)); \
  }
HG_KEEPER(KeepBeforeStart)
HG_KEEPER(KeepWhileActive)
HG_KEEPER(KeepWhileStopped)
HG_KEEPER(KeepBeforeReset)
HG_KEEPER(KeepAfterReset)
HG_KEEPER(KeepInChild)

static void Tell(const char* when) {
  printf("%s available=%d active=%d interval=%lu path=%s\n", when, heapgauge_available(),
         heapgauge_is_active(), (unsigned long)heapgauge_interval(),
         YesNo(heapgauge_gauge_path()[0] != '\0'));
}

static void Wake(void) {
  Tell("before");
  KeepBeforeStart();
  printf("start %d\n", heapgauge_start());
  Tell("after");
  KeepWhileActive();
}

static void Switch(void) {
  printf("interval %d\n", heapgauge_set_interval(8192));
  printf("refused %d\n", heapgauge_set_interval(0));
  Tell("interval");
  KeepBeforeReset();
  printf("reset %d\n", heapgauge_reset());
  KeepAfterReset();
  printf("stop %d\n", heapgauge_stop());
  Tell("stopped");
  KeepWhileStopped();
  printf("start %d\n", heapgauge_set_active(1));
  Tell("started");
  KeepWhileActive();
}

static void Fork(void) {
  fflush(stdout);
  const pid_t child = fork();
  Require(child >= 0, "cannot fork");
  if (child == 0) {
    printf("start %d\n", heapgauge_start());
    Tell("child");
    KeepInChild();
    fflush(stdout);
    _exit(0);
  }
  int status = 1;
  Require(waitpid(child, &status, 0) == child && status == 0, "the child failed");
  Tell("parent");
}

static volatile sig_atomic_t handled;

static void Handler(int number) {
  (void)number;
  const int n = (int)handled;
  heapgauge_set_active(n % 3 != 0);
  heapgauge_set_interval(n % 2 ? 4096 : 65536);
  if (n % 16 == 0) heapgauge_reset();
  (void)heapgauge_is_active();
  (void)heapgauge_gauge_path();
  handled = n + 1;
}

static void InHandler(void) {
  struct sigaction action = {0};
  action.sa_handler = Handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t sum = 0;
  for (uint64_t seed = 1; handled < 1000; ++seed) sum += Exercise(seed % 7, 2000);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  Escape(&sum);
  printf("start %d\n", heapgauge_start());
  printf("interval %d\n", heapgauge_set_interval(65536));
  Tell("end");
  KeepWhileActive();
}

int main(int argc, char** argv) {
  Require(argc == 2, "usage: api_control wake|switch|fork|handler");
  static char output[4096];
  setvbuf(stdout, output, _IOFBF, sizeof output);
  if (strcmp(argv[1], "wake") == 0) Wake();
  if (strcmp(argv[1], "switch") == 0) Switch();
  if (strcmp(argv[1], "fork") == 0) Fork();
  if (strcmp(argv[1], "handler") == 0) InHandler();
  puts("done");
  return 0;
}
