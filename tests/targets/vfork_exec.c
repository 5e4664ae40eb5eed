// vfork, then exec: the child runs on the parent's memory until it executes another program.
//
//   vfork_exec [ROUNDS]      default 20
//
// Every second child allocates before it executes, as careless programs do; its block belongs to
// the parent, which frees it. Prints how the children ended.

#include <sys/wait.h>

#include "tests/targets/support.h"

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return (int)(Exercise(3, 2000) % 100);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  Require(n > 0, "readlink");
  self[n] = '\0';
  char* const child_argv[] = {self, "child", NULL};
  int ended[256] = {0};
  for (int i = 0; i < rounds; ++i) {
    static void* volatile given;
    given = NULL;
    const pid_t child = vfork();
    Require(child >= 0, "vfork");
    if (child == 0) {
      if (i % 2 == 1) given = AllocateAt(1, 3, 300000);
      execve(self, child_argv, environ);
      _exit(127);
    }
    free(given);
    Exercise((uint64_t)i, 500);
    int status = 0;
    Require(waitpid(child, &status, 0) == child && WIFEXITED(status), "waitpid");
    ++ended[WEXITSTATUS(status)];
  }
  for (int i = 0; i < 256; ++i) {
    if (ended[i] > 0) printf("%d children exited with %d\n", ended[i], i);
  }
  return 0;
}
