#include "agent/sys/os.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <cstring>

namespace heapgauge::agent::os {
namespace {

int (*libc_clock)(clockid_t, timespec*) = nullptr;

uint64_t Clock(clockid_t clock) {
  timespec now{};
  if (libc_clock != nullptr) {
    libc_clock(clock, &now);  // by way of the vDSO: enters no kernel
  } else {
    Syscall(SYS_clock_gettime, clock, &now);
  }
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int Stat(int fd, struct stat* info) {
  return static_cast<int>(Syscall(SYS_newfstatat, fd, "", info, AT_EMPTY_PATH));
}

// Programs count on getting the lowest free descriptor: leave it to them as soon as possible.
int MovedHigh(long fd) {
  if (fd < 0) return static_cast<int>(fd);
  const long high = Syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 512);
  if (high < 0) return static_cast<int>(fd);
  Close(static_cast<int>(fd));
  return static_cast<int>(high);
}

}  // namespace

int CreateFile(const char* path) {
  return MovedHigh(Syscall(SYS_openat, AT_FDCWD, path,
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

int OpenFile(const char* path) {
  return MovedHigh(
      Syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0));
}

long CurrentDirectory(char* buffer, size_t bytes) { return Syscall(SYS_getcwd, buffer, bytes); }

void Close(int fd) { Syscall(SYS_close, fd); }

int Reserve(int fd, uint64_t offset, uint64_t bytes) {
  rlimit64 limit{};
  const long known = Syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit);
  if (known < 0) return static_cast<int>(known);
  if (limit.rlim_cur != RLIM64_INFINITY && offset + bytes > limit.rlim_cur) return -EFBIG;
  const long result = Syscall(SYS_fallocate, fd, 0, offset, bytes);
  if (result != -EOPNOTSUPP) return static_cast<int>(result);
  // A file system without fallocate: writing zeros reserves as well.
  static const char zeros[4096] = {};
  for (uint64_t at = offset; at < offset + bytes; at += sizeof zeros) {
    const long written = Syscall(SYS_pwrite64, fd, zeros, sizeof zeros, at);
    if (written != static_cast<long>(sizeof zeros)) return written < 0 ? int(written) : -ENOSPC;
  }
  return 0;
}

bool FileIdentity(int fd, uint64_t* device, uint64_t* inode) {
  struct stat info;
  if (Stat(fd, &info) < 0) return false;
  *device = info.st_dev;
  *inode = info.st_ino;
  return true;
}

int EnsureDirectory(const char* path, uint32_t uid) {
  const long made = Syscall(SYS_mkdir, path, 0700);
  if (made < 0 && made != -EEXIST) return static_cast<int>(made);
  const long fd =
      Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd < 0) return static_cast<int>(fd);
  struct stat info;
  const int known = Stat(static_cast<int>(fd), &info);
  Close(static_cast<int>(fd));
  if (known < 0) return known;
  if (info.st_uid != uid && info.st_uid != 0) return -EPERM;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0) return -EPERM;
  return 0;
}

int RenameToNew(const char* from, const char* to) {
  constexpr int kNoReplace = 1;
  const long renamed = Syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, kNoReplace);
  if (renamed != -EINVAL && renamed != -ENOSYS) return static_cast<int>(renamed);
  // A file system that cannot do that: by a second name.
  const long linked = Syscall(SYS_link, from, to);
  return static_cast<int>(linked < 0 ? linked : Syscall(SYS_unlink, from));
}

int Unlink(const char* path) { return static_cast<int>(Syscall(SYS_unlink, path)); }

bool Exists(const char* path) {
  struct stat info;
  return Syscall(SYS_newfstatat, AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

int OpenForReading(const char* path) {
  return MovedHigh(Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
}

long Read(int fd, void* buffer, size_t bytes) { return Syscall(SYS_read, fd, buffer, bytes); }

int WriteAt(int fd, const void* data, size_t bytes, uint64_t offset) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const long written = Syscall(SYS_pwrite64, fd, from, bytes, offset);
    if (written == -EINTR) continue;
    if (written <= 0) return written < 0 ? static_cast<int>(written) : -ENOSPC;
    from += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

namespace {
constexpr uint64_t SignalBit(int signal) { return uint64_t{1} << (signal - 1); }
}  // namespace

SignalsBlocked::SignalsBlocked() {
  const uint64_t all = ~uint64_t{0};
  uint64_t pending = 0;
  ok_ = Syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all) == 0;
  // Another thread may freeze system calls in between: the mask must be put back all the same.
  const bool known = ok_ && Syscall(SYS_rt_sigpending, &pending, sizeof pending) == 0;
  own_ = known ? (SignalBit(SIGPIPE) | SignalBit(SIGXFSZ)) & ~pending : 0;
}

SignalsBlocked::~SignalsBlocked() {
  if (!ok_) return;
  const timespec at_once{};
  while (own_ != 0 && Syscall(SYS_rt_sigtimedwait, &own_, nullptr, &at_once, sizeof own_) > 0) {
  }
  // Not by way of Syscall: even if another thread has frozen that meanwhile, this one must get its
  // signals back.
  arch::Syscall6(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0,
                 sizeof before_, 0, 0);
}

void WriteLine(int fd, const char* text, size_t bytes) {
  pollfd stream{fd, POLLOUT, 0};
  if (Syscall(SYS_poll, &stream, 1, 0) != 1 || (stream.revents & POLLOUT) == 0) return;
  Syscall(SYS_write, fd, text, bytes);
}

namespace {
long ReadAll(long fd, char* buffer, size_t bytes) {
  size_t filled = 0;
  while (filled < bytes - 1) {
    const long got = Syscall(SYS_read, fd, buffer + filled, bytes - 1 - filled);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  Close(static_cast<int>(fd));
  buffer[filled] = '\0';
  return static_cast<long>(filled);
}
}  // namespace

long ReadWhole(const char* path, char* buffer, size_t bytes) {
  const long fd = Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  return fd < 0 ? fd : ReadAll(fd, buffer, bytes);
}

long ReadTrustedFile(const char* path, uint32_t uid, char* buffer, size_t bytes) {
  // Not waiting: it may be a pipe.
  const long fd = Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) return fd;
  struct stat info;
  if (Stat(static_cast<int>(fd), &info) < 0 || !S_ISREG(info.st_mode) ||
      (info.st_uid != 0 && info.st_uid != uid) || (info.st_mode & S_IWOTH) != 0) {
    Close(static_cast<int>(fd));
    return -EPERM;
  }
  return ReadAll(fd, buffer, bytes);
}

long ReadLink(const char* path, char* buffer, size_t bytes) {
  const long length = Syscall(SYS_readlinkat, AT_FDCWD, path, buffer, bytes - 1);
  buffer[length > 0 ? length : 0] = '\0';
  return length;
}

uint32_t ProcessId() { return static_cast<uint32_t>(Syscall(SYS_getpid)); }
uint64_t ProcessStartTicks() {
  char text[1024];
  // The second field, a name in parentheses, may hold anything.
  if (ReadWhole("/proc/self/stat", text, sizeof text) <= 0) return 0;
  const char* at = strrchr(text, ')');
  if (at == nullptr) return 0;
  for (int field = 2; field < 22; ++field) {
    at = strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  uint64_t ticks = 0;
  for (++at; *at >= '0' && *at <= '9'; ++at) ticks = ticks * 10 + static_cast<uint64_t>(*at - '0');
  return ticks;
}

uint64_t PidNamespace() {
  struct stat info;
  if (Syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &info, 0) != 0) return 0;
  return info.st_ino;
}

uint32_t ParentProcessId() { return static_cast<uint32_t>(Syscall(SYS_getppid)); }

uint32_t ThreadId() {
  const long id = Syscall(SYS_gettid);
  return id < 0 ? 0 : static_cast<uint32_t>(id);
}

void ThreadName(uint64_t (&name)[2]) {
  name[0] = name[1] = 0;
  Syscall(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(name), 0, 0, 0);
}

uint32_t EffectiveUserId() { return static_cast<uint32_t>(Syscall(SYS_geteuid)); }

uint64_t RandomSeed() {
  uint64_t seed = 0;
  if (Syscall(SYS_getrandom, &seed, sizeof seed, 1 /* GRND_NONBLOCK */) != sizeof seed) {
    seed = MonotonicNs() ^ (uint64_t{ProcessId()} << 32);
  }
  return seed;
}

void UseLibcClock(void* clock_gettime_function) {
  libc_clock = reinterpret_cast<int (*)(clockid_t, timespec*)>(clock_gettime_function);
}

bool Nap(uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  return Syscall(SYS_nanosleep, &time, nullptr) != -ENOSYS;
}

bool RunWithSpareDescriptor(void (*run)(void*), void* argument) {
  struct Order {
    void (*run)(void*);
    void* argument;
  } order{run, argument};
  const auto in_child = [](void* given) {
    const auto* wanted = static_cast<Order*>(given);
    Close(0);  // all are open
    wanted->run(wanted->argument);
  };
  // With no signal at its end.
  constexpr long kFlags = CLONE_VM | CLONE_VFORK | CLONE_UNTRACED;
  const SignalsBlocked blocked;
  if (SyscallsFrozen()) return false;
  const long child = arch::RunInChild(kFlags, in_child, &order);
  if (child < 0) return false;
  while (Syscall(SYS_wait4, child, nullptr, __WCLONE, nullptr) == -EINTR) {
  }
  return true;
}

bool OffAlternateStack() {
  stack_t stack{};
  return Syscall(SYS_sigaltstack, nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
}

// Strict seccomp forbids reading the processor's clock as well; the coarse time needs none.
uint64_t MonotonicNs() {
  return Clock(SyscallsFrozen() ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC);
}
uint64_t RealtimeNs() { return Clock(CLOCK_REALTIME); }
uint64_t FineMonotonicNs() { return Clock(CLOCK_MONOTONIC); }

bool ClockNeedsNoKernel() {
  char name[32];
  const long length = ReadWhole("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                name, sizeof name);
  return libc_clock != nullptr && length > 0 && strncmp(name, "tsc\n", sizeof name) == 0;
}

bool RunsWithElevatedRights() { return getauxval(AT_SECURE) != 0; }

}  // namespace heapgauge::agent::os
