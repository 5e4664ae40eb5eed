#include "agent/trace/recorder_life.h"

#include <errno.h>

#include "agent/sys/os.h"
#include "agent/sys/syscall.h"

namespace heapgauge::agent {

bool IsRecorderGone(const TraceSettings& settings) {
  if (settings.recorder_pid == 0 || settings.recorder_namespace == 0) return false;
  if (os::PidNamespace() != settings.recorder_namespace) return false;
  // Not by /proc, which may not show the processes of others.
  return Syscall(SYS_kill, settings.recorder_pid, 0) == -ESRCH;
}

}  // namespace heapgauge::agent
