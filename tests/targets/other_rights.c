// Gives up its rights as servers do that are started by root, then allocates.
//
//   other_rights setuid           becomes the user nobody
//   other_rights chroot           has another root directory from then on, without the old files
//   other_rights worker           a forked child does both before it allocates for the first time
//
// Keeps 64 MiB from the function AfterTheChange. Prints "alive" and how a call ended that is no
// longer allowed; skips if it is not root.

#include <errno.h>
#include <sys/wait.h>

#include "tests/targets/support.h"

enum { kNobody = 65534, kBlocks = 1024, kBytes = 65536 };

static HG_NOINLINE void AfterTheChange(void) {
  for (int i = 0; i < kBlocks; ++i) {
    void* block = malloc(kBytes);
    Require(block != NULL, "malloc");
    Escape(block);
  }
}

static void Change(int user, int root) {
  if (root) Require(chroot("/proc/self/task") == 0 && chdir("/") == 0, "chroot");
  if (user) Require(setuid(kNobody) == 0, "setuid");
}

int main(int argc, char** argv) {
  const char* const how = argc == 2 ? argv[1] : "";
  if (geteuid() != 0) {
    puts("skip: this is for root");
    return kSkipped;
  }
  if (strcmp(how, "worker") == 0) {
    const pid_t child = fork();
    Require(child >= 0, "fork");
    if (child > 0) {
      int status = 0;
      Require(waitpid(child, &status, 0) == child && status == 0, "the worker");
      return 0;
    }
    Change(1, 1);
  } else {
    Change(strcmp(how, "setuid") == 0, strcmp(how, "chroot") == 0);
  }
  AfterTheChange();
  errno = 0;
  const int refused = strcmp(how, "chroot") == 0 ? 0 : setuid(0);
  printf("alive, %d %d\n", refused, errno);
  return 0;
}
