// Filters of system calls that a program puts on its own threads.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <cstdint>

namespace heapgauge::leaks {

enum class Calls { kThis, kAllButThis };

// From now on the process is killed if this thread, or what it starts, makes one of `forbidden`.
// False if there can be no such filter here.
inline bool ForbidCalls(uint32_t call, Calls forbidden) {
  const uint8_t skip_if_equal = forbidden == Calls::kAllButThis ? 1 : 0;
  const uint8_t skip_otherwise = forbidden == Calls::kThis ? 1 : 0;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, skip_if_equal, skip_otherwise),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace heapgauge::leaks
