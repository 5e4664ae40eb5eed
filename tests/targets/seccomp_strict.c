// SECCOMP_MODE_STRICT: from then on every system call but read, write, exit and sigreturn kills.
//
// Over glibc alone: its heap is made large enough before (mallopt), so that malloc needs no system
// call. The kernel forbids rdtsc along with it (SIGSEGV), and so the vDSO's clock. 200,000 small
// blocks follow, from new stacks too. Prints "alive" and exits with 7; the end by SIGKILL means
// that somebody made a system call.

#include <linux/seccomp.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/targets/support.h"

enum { kBlocks = 1000 };

int main(void) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  static void* block[kBlocks];
  free(malloc(32 << 20));
  Exercise(1, 20000);  // a profiler is at work by now
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
    puts("skip: the kernel refuses SECCOMP_MODE_STRICT");
    return kSkipped;
  }
  for (unsigned i = 0; i < 200000; ++i) {
    void** slot = &block[i % kBlocks];
    free(*slot);
    *slot = AllocateAt(i, 10, 16 + i % 2000);
    if (*slot == NULL) syscall(SYS_exit, 8);
    Mark(*slot, 16, i);
  }
  static const char kAlive[] = "alive\n";
  syscall(SYS_exit, write(1, kAlive, sizeof kAlive - 1) == sizeof kAlive - 1 ? 7 : 9);
  __builtin_unreachable();
}
