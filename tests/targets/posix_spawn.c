// posix_spawn, system and popen, which share memory with the parent while they start a child.
//
// Prints how the children ended and what they said.

#include <spawn.h>
#include <sys/wait.h>

#include "tests/targets/support.h"

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 1) return (int)(Exercise(4, 2000) % 100);
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  Require(n > 0, "readlink");
  self[n] = '\0';
  char* const child_argv[] = {self, "child", NULL};
  (void)argv;
  for (int i = 0; i < 10; ++i) {
    pid_t child = 0;
    Require(posix_spawn(&child, self, NULL, NULL, child_argv, environ) == 0, "posix_spawn");
    Exercise((uint64_t)i, 500);
    int status = 0;
    Require(waitpid(child, &status, 0) == child && WIFEXITED(status), "waitpid");
    printf("spawned child %d exited with %d\n", i, WEXITSTATUS(status));
  }
  fflush(stdout);
  printf("system: %d\n", WEXITSTATUS(system("exit 9")));
  FILE* said = popen("echo hello", "r");
  char line[64] = "";
  Require(said != NULL && fgets(line, sizeof line, said) != NULL, "popen");
  printf("popen: %s", line);
  printf("pclose: %d\n", pclose(said));
  Exercise(11, 10000);
  puts("done");
  return 0;
}
