// Turns itself into a daemon the old way: two forks, setsid, chdir, all file descriptors closed.
// Then it allocates and writes its result.
//
//   daemonise RESULT_FILE [MILLISECONDS]
//
// The file is an absolute path; it appears complete (it is renamed into place). The daemon rests
// for so long before it allocates, long after its parents have gone.
//
// The file gets one line with a sum, and whether the descriptors that the daemon opened afterwards
// were those it expects (the lowest ones). Daemon: keeps 16 MiB from the function DaemonState.

#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/targets/support.h"

static HG_NOINLINE void DaemonState(void) {
  for (int i = 0; i < 2048; ++i) {
    void* p = malloc(8192);
    Escape(p);
  }
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: daemonise RESULT_FILE [MILLISECONDS]\n");
    return 2;
  }
  Exercise(1, 20000);
  fflush(stdout);
  pid_t child = fork();
  Require(child >= 0, "fork");
  if (child > 0) {
    int status = 0;
    Require(waitpid(child, &status, 0) == child, "waitpid");
    printf("started: %d\n", WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
  }
  Require(setsid() > 0, "setsid");
  child = fork();
  Require(child >= 0, "fork");
  if (child > 0) _exit(0);
  umask(077);
  Require(chdir("/") == 0, "chdir");
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  if (argc == 3) usleep((useconds_t)(atoi(argv[2]) * 1000));
  DaemonState();
  const uint64_t sum = Exercise(2, 20000);
  const int first = open("/dev/null", O_RDWR);
  const int second = dup(first);
  char line[128];
  const int n = snprintf(line, sizeof line, "sum %lx, first descriptors %d %d\n",
                         (unsigned long)sum, first, second);
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s.new", argv[1]);
  const int out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Require(out >= 0 && write(out, line, (size_t)n) == n && close(out) == 0, "write");
  Require(rename(temporary, argv[1]) == 0, "rename");
  return 0;
}
