#include "core/trace/file/writer_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace heapgauge::trace {
namespace {

// All of the file.
struct flock LockOf(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool LockAsWriter(int fd) {
  struct flock lock = LockOf(F_WRLCK);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool HasWriter(int fd) {
  struct flock lock = LockOf(F_RDLCK);
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace heapgauge::trace
