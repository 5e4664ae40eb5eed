// A patient for the doctor: does what the lines on its standard input say, answers each with "ok"
// and ends with the input. Built in many ways (CMakeLists.txt here).
//
//   alloc N SIZE      N blocks that stay
//   churn N SIZE      N blocks that are freed at once
//   setuid UID        gives up its rights
//   chroot            locks itself into its working directory
//   seccomp           a filter that allows everything
//   fork              a child that only waits for the end of this process
//   daemon            a child that outlives this process, and only waits to be killed
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void* volatile last_block;

__attribute__((noinline)) void HoldMemory(long count, size_t size) {
  for (long i = 0; i < count; ++i) {
    last_block = malloc(size);
    if (last_block != NULL) memset(last_block, 1, size < 64 ? size : 64);
  }
}

static void Churn(long count, size_t size) {
  for (long i = 0; i < count; ++i) {
    last_block = malloc(size);
    free(last_block);
  }
}

static int AllowEverything(void) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
  char line[256];
  // No buffers: nothing is allocated that was not asked for.
  static char in[4096];
  static char out[4096];
  setvbuf(stdin, in, _IOLBF, sizeof in);
  setvbuf(stdout, out, _IOLBF, sizeof out);
  puts("ready");
  while (fgets(line, sizeof line, stdin) != NULL) {
    char verb[32] = "";
    long count = 0;
    unsigned long size = 0;
    int ok = sscanf(line, "%31s %ld %lu", verb, &count, &size) >= 1;
    if (strcmp(verb, "alloc") == 0) HoldMemory(count, size);
    if (strcmp(verb, "churn") == 0) Churn(count, size);
    if (strcmp(verb, "setuid") == 0) ok = setgid((gid_t)count) == 0 && setuid((uid_t)count) == 0;
    if (strcmp(verb, "chroot") == 0) ok = chroot(".") == 0;
    if (strcmp(verb, "seccomp") == 0) ok = AllowEverything();
    const int outlives = strcmp(verb, "daemon") == 0;
    if (strcmp(verb, "fork") == 0 || outlives) {
      const pid_t child = fork();
      if (child == 0) {
        if (!outlives) prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
      }
      printf("ok %d\n", (int)child);
      continue;
    }
    puts(ok ? "ok" : "failed");
  }
  return 0;
}
