// Installs a seccomp filter that allows everything, loses a block of 1,234 bytes and returns from
// main as usual. Prints "alive".

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "tests/targets/support.h"

int main(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog filter = {1, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    puts("skip: the kernel refuses seccomp filters");
    return kSkipped;
  }
  void* block = malloc(1234);
  Escape(block);
  puts("alive");
  return 0;
}
