// A worker that is forked, installs a seccomp filter before anything else, as sandboxes do, and
// only then allocates, 20 MB. Prints "alive" when it has ended.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/targets/support.h"

static void Work(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog filter = {1, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    _exit(kSkipped);
  }
  for (int i = 0; i < 200; ++i) Escape(AllocateAt((unsigned)i, 3, 100000));
  _exit(0);
}

int main(void) {
  Exercise(1, 5000);
  const pid_t worker = fork();
  if (worker == 0) Work();
  int status = 0;
  Require(worker > 0 && waitpid(worker, &status, 0) == worker, "fork");
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
    puts("skip: the kernel refuses seccomp filters");
    return kSkipped;
  }
  Require(status == 0, "the worker failed");
  puts("alive");
  return 0;
}
