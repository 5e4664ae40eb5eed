#include "agent/trace/recorder_life.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/syscall.h"

namespace heapgauge::agent {
namespace {

// The number in "pid:[4026531836]"; 0 unknown.
uint64_t PidNamespace() {
  char link[64];
  if (os::ReadLink("/proc/self/ns/pid", link, sizeof link) <= 0) return 0;
  const char* at = strchr(link, '[');
  uint64_t number = 0;
  if (at == nullptr) return 0;
  for (++at; *at >= '0' && *at <= '9'; ++at) {
    number = number * 10 + static_cast<uint64_t>(*at - '0');
  }
  return number;
}

}  // namespace

bool IsRecorderGone(const TraceSettings& settings) {
  if (settings.recorder_pid == 0 || settings.recorder_namespace == 0) return false;
  if (PidNamespace() != settings.recorder_namespace) return false;
  // Not by /proc, which may not show the processes of others.
  return Syscall(SYS_kill, settings.recorder_pid, 0) == -ESRCH;
}

}  // namespace heapgauge::agent
