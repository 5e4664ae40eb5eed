// Ends while another thread has its leaks checked, again and again (heapgauge/heapgauge.h). Loses
// one block of 1,234 bytes before. Prints "done", or "no checks" if there is nobody who does any.
// With an argument it is that thread which ends the program, with 3, by _exit in a signal handler.

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "include/heapgauge/heapgauge.h"
#include "tests/targets/support.h"

static atomic_int checks;

static void* Check(void* unused) {
  (void)unused;
  for (;;) {
    struct heapgauge_leaks leaks;
    if (heapgauge_leak_check(0, NULL, 0, &leaks) != HEAPGAUGE_OK) {
      puts("no checks");
      exit(0);
    }
    ++checks;
  }
  return NULL;
}

HG_NOINLINE static void Lose(void) {
  void* block = malloc(1234);
  Escape(block);
}

static void End(int signal) { _exit(signal == SIGUSR1 ? 3 : 4); }

int main(int argc, char** argv) {
  (void)argv;
  Lose();
  pthread_t thread;
  Require(pthread_create(&thread, NULL, Check, NULL) == 0, "no thread");
  while (checks < 3) usleep(1000);
  puts("done");
  if (argc > 1) {
    fflush(stdout);
    signal(SIGUSR1, End);
    pthread_kill(thread, SIGUSR1);
    for (;;) pause();
  }
  return 0;
}
