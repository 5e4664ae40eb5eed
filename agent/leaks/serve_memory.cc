#include "agent/leaks/serve_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/syscall.h"

namespace heapgauge::agent::internal {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kWaitMs = 20;

int OpenPipe(const char* path, const char* end, int mode) {
  char name[1100];
  const size_t length = strlen(path);
  const size_t more = strlen(end) + 1;
  if (length + more > sizeof name) return -ENAMETOOLONG;
  memcpy(name, path, length);
  memcpy(name + length, end, more);
  // Without waiting for the other side: that has opened both.
  const long fd =
      Syscall(SYS_openat, AT_FDCWD, name, mode | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd < 0) return static_cast<int>(fd);
  struct stat info;
  const long known = Syscall(SYS_newfstatat, fd, "", &info, AT_EMPTY_PATH);
  if (known < 0 || !S_ISFIFO(info.st_mode) || (info.st_mode & 077) != 0 ||
      (info.st_uid != 0 && info.st_uid != os::EffectiveUserId())) {
    os::Close(static_cast<int>(fd));
    return -EPERM;
  }
  Syscall(SYS_fcntl, fd, F_SETFL, mode);
  return static_cast<int>(fd);
}

bool IsReadable(uint64_t address, const int probe[2]) {
  char byte;
  if (Syscall(SYS_write, probe[1], address, 1) != 1) return false;
  return Syscall(SYS_read, probe[0], &byte, 1) == 1;
}

bool WriteAll(int fd, uint64_t address, uint64_t bytes) {
  while (bytes > 0) {
    const long written = Syscall(SYS_write, fd, address, bytes);
    if (written == -EINTR) continue;
    if (written <= 0) return false;
    address += static_cast<uint64_t>(written);
    bytes -= static_cast<uint64_t>(written);
  }
  return true;
}

}  // namespace

bool OpenPipes(const char* path, int pipes[2]) {
  pipes[0] = OpenPipe(path, ".ask", O_RDONLY);
  if (pipes[0] < 0) return false;
  pipes[1] = OpenPipe(path, ".say", O_WRONLY);
  if (pipes[1] >= 0) return true;
  os::Close(pipes[0]);
  return false;
}

bool MakeProbe(int probe[2]) { return Syscall(SYS_pipe2, probe, O_CLOEXEC) == 0; }

void ClosePair(const int fds[2]) {
  os::Close(fds[0]);
  os::Close(fds[1]);
}

bool HasQuestion(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return Syscall(SYS_poll, &wait, 1, kWaitMs) == 1;
}

bool AnswerOne(const int pipes[2], const int probe[2]) {
  uint64_t question[2];
  if (os::Read(pipes[0], question, sizeof question) != sizeof question) return false;
  const uint64_t start = question[0];
  const uint64_t end = start + question[1] < start ? start : start + question[1];
  uint64_t at = start;
  // A page is there or not as a whole.
  while (at < end && IsReadable(at, probe)) at = (at / kPage + 1) * kPage;
  const uint64_t bytes = (at < end ? at : end) - start;
  return WriteAll(pipes[1], reinterpret_cast<uint64_t>(&bytes), sizeof bytes) &&
         WriteAll(pipes[1], start, bytes);
}

}  // namespace heapgauge::agent::internal
