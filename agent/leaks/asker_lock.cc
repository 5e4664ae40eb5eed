#include "agent/leaks/asker_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/sys/os.h"
#include "agent/sys/syscall.h"

namespace heapgauge::agent {

bool NobodyAsks(const GaugeFile& file) {
  const int fd = file.OpenAgain();
  if (fd < 0) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;  // which theirs would be in the way of
  lock.l_whence = SEEK_SET;
  lock.l_start = wire::kAskerLockOffset;
  lock.l_len = wire::kAskerLockBytes;
  const long answer = Syscall(SYS_fcntl, fd, F_OFD_GETLK, &lock);
  os::Close(fd);
  return answer == 0 && lock.l_type == F_UNLCK;
}

}  // namespace heapgauge::agent
