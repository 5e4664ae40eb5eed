// A seccomp filter as sandboxes install it: what malloc itself needs is allowed, all else kills the
// process (or fails with EPERM).
//
//   seccomp_filter [kill|errno]
//
// Allowed: mmap, munmap, brk, mremap, madvise, mprotect, write, futex, rt_sigreturn, exit,
// exit_group. Not allowed, among others: openat, fallocate, ftruncate, fstat, prlimit64, getpid,
// gettid, clock_gettime as a system call. Allocates before and after. Prints "alive" and exits with
// 0.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/targets/support.h"

#define ALLOW(name)                                      \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int argc, char** argv) {
  const int fail = argc > 1 && strcmp(argv[1], "errno") == 0;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(mmap),
      ALLOW(munmap),
      ALLOW(brk),
      ALLOW(mremap),
      ALLOW(madvise),
      ALLOW(mprotect),
      ALLOW(write),
      ALLOW(futex),
      ALLOW(rt_sigreturn),
      ALLOW(exit),
      ALLOW(exit_group),
      BPF_STMT(BPF_RET | BPF_K, fail ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  Exercise(1, 20000);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    puts("skip: the kernel refuses seccomp filters");
    return kSkipped;
  }
  enum { kBlocks = 4000 };
  static void* block[kBlocks];
  uint64_t random = 9;
  for (unsigned i = 0; i < 40000; ++i) {
    void** slot = &block[i % kBlocks];
    free(*slot);
    const size_t size = RandomSize(&random, 60000);
    *slot = AllocateAt(i, 12, size);
    if (*slot == NULL) syscall(SYS_exit_group, 8);
    Mark(*slot, size, i);
  }
  const uint64_t sum = Exercise(2, 50000);
  for (int i = 0; i < kBlocks; ++i) free(block[i]);
  char line[64];
  const int n = snprintf(line, sizeof line, "alive %lx\n", (unsigned long)sum);
  syscall(SYS_exit_group, write(1, line, (size_t)n) == n ? 0 : 9);
  __builtin_unreachable();
}
