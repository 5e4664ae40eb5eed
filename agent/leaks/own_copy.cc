#include "agent/leaks/own_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "agent/sys/os.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

// Hands out the memory of this process through two pipes, for a reader whom the kernel does not let
// read it. The reader has made them beside the gauge file, PATH.ask and PATH.say, for its user
// alone. A question is an address and a length, 16 bytes; the answer a number of bytes, 8 bytes,
// and then as many from the address on: less than asked where memory ends, 0 where there is none.
//
// Allocation-free. For a copy that does nothing else.

namespace internal {
// The pipes, if they are there and a user's that may ask.
bool OpenPipes(const char* path, int pipes[2]);
// One question; false if there will be no more.
bool AnswerOne(const int pipes[2], const int probe[2]);
bool MakeProbe(int probe[2]);
void ClosePair(const int fds[2]);
// Waits a little while; true if there is a question.
bool HasQuestion(int fd);
}  // namespace internal

// Returns at once if nobody has made pipes; otherwise when they are closed, or `goes_on` says so.
template <typename GoesOn>
void ServeMemory(const char* path, GoesOn goes_on) {
  int pipes[2];
  if (!internal::OpenPipes(path, pipes)) return;
  int probe[2];
  if (internal::MakeProbe(probe)) {
    while (goes_on()) {
      if (internal::HasQuestion(pipes[0]) && !internal::AnswerOne(pipes, probe)) break;
    }
    internal::ClosePair(probe);
  }
  internal::ClosePair(pipes);
}

}  // namespace heapgauge::agent

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

namespace heapgauge::agent {
namespace {

constexpr uint64_t kLifeNs = 60'000'000'000;
constexpr uint64_t kNapNs = 10'000'000;
constexpr uint64_t kLookNs = 500'000'000;  // from one look for who asked to the next

uint32_t Requests(const wire::LeakControl* words) {
  return std::atomic_ref(*const_cast<uint32_t*>(&words->picture_requests))
      .load(std::memory_order_acquire);
}

// Whether nobody waits for a copy of the program any more, nor reads one: a checker holds a lock on
// the open gauge file (wire/leak_control.h), which the kernel takes away however the checker ends.
// False as well where that cannot be told: the file cannot be opened any more, or is on a file
// system without locks. Three system calls.
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

void CloseAllFiles() {
  constexpr long kCloseRange = 436;
  if (Syscall(kCloseRange, 0, ~0u, 0) == 0) return;
  constexpr int kMost = 65536;
  for (int fd = 0; fd < kMost; ++fd) os::Close(fd);
}

void OfferToOomKiller() {
  const int fd = os::OpenFile("/proc/self/oom_score_adj");
  if (fd < 0) return;
  Syscall(SYS_write, fd, "1000", 4);
  os::Close(fd);
}

// All that the copy ever does. Signals are blocked.
[[noreturn]] void StandStill(const GaugeFile& file, uint32_t request) {
  CloseAllFiles();
  Syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  Syscall(SYS_prctl, PR_SET_PTRACER, -1, 0, 0, 0);
  Syscall(SYS_prctl, PR_SET_NAME, "heapgauge-copy", 0, 0, 0);
  OfferToOomKiller();
  const wire::LeakControl* const words = &file.header()->leaks;
  const uint64_t end_ns = os::MonotonicNs() + kLifeNs;
  uint64_t look_ns = 0;
  const auto is_wanted = [&] {
    const uint64_t now_ns = os::MonotonicNs();
    if (Requests(words) != request || now_ns >= end_ns) return false;
    if (now_ns < look_ns) return true;
    look_ns = now_ns + kLookNs;
    return !NobodyAsks(file);
  };
  while (is_wanted()) {
    ServeMemory(file.path(), is_wanted);
    if (!os::Nap(kNapNs)) break;
  }
  for (;;) arch::Syscall6(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

}  // namespace

void OwnCopy::Forget() {
  busy_.Unlock();
  seen_ = 0;
  for (long& child : children_) child = 0;
}

// Without waiting for it: a large copy takes a while to end, and it may be traced.
void OwnCopy::EndOld() {
  for (long& child : children_) {
    if (child == 0) continue;
    // No child that the program made by itself, should it have the number by now.
    if (Syscall(SYS_wait4, child, nullptr, __WCLONE | WNOHANG, nullptr) == 0) {
      Syscall(SYS_kill, child, SIGKILL);
    } else {
      child = 0;
    }
  }
}

void OwnCopy::Follow(const GaugeFile& file) {
  const uint32_t request = Requests(&file.header()->leaks);
  if (request == seen_) return;
  // A child of vfork has this memory and is another process.
  if (!SyscallsFrozen() && os::ProcessId() != file.header()->pid) return;
  if (!busy_.Lock()) return;
  if (request != seen_) {
    seen_ = request;
    EndOld();
    if (request % 2 != 0) Fork(file, request);
  }
  busy_.Unlock();
}

// Not inlined, so that registers which callers must find unchanged are on the stack here.
[[gnu::noinline]] void OwnCopy::Fork(const GaugeFile& file, uint32_t request) {
  __builtin_unwind_init();
  const os::SignalsBlocked blocked;
  wire::LeakControl* const words = &file.header()->leaks;
  char lowest;
  Put(words->picture_stack_pointer, uint64_t{reinterpret_cast<uintptr_t>(&lowest)});
  Put(words->picture_thread, os::ThreadId());
  const uint64_t before_ns = os::MonotonicNs();
  // There is no room if those who ended still have to be waited for.
  long* const place = std::find(std::begin(children_), std::end(children_), 0);
  const long child = place == std::end(children_) ? -EAGAIN
                     : NobodyAsks(file)           ? -ECANCELED
                                                  : Syscall(SYS_clone, 0, 0, 0, 0, 0);
  if (child == 0) StandStill(file, request);
  if (child > 0) *place = child;
  Put(words->picture_pause_ns, os::MonotonicNs() - before_ns);
  Put(words->picture_pid, child > 0 ? static_cast<uint32_t>(child) : 0);
  Put(words->picture_error, child > 0 ? 0 : static_cast<uint32_t>(-child));
  std::atomic_ref(words->picture_answers).store(request, std::memory_order_release);
}

}  // namespace heapgauge::agent
