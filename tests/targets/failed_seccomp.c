// Asks about seccomp and fails to install a filter, as libraries do to find out what there is.
// There is no filter afterwards. Then allocates; prints "done".

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/targets/support.h"

int main(void) {
  unsigned action = 0x7fff0000;
  syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
  printf("null filter refused %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1);
  for (int i = 0; i < 20000; ++i) {
    void* block = malloc(5000);
    Escape(block);
    if (i % 4 == 0) free(block);
  }
  puts("done");
  return 0;
}
