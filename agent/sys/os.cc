#include "agent/sys/os.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/sys/syscall.h"

namespace heapgauge::agent::os {
namespace {

void* Mapped(long result) { return result < 0 ? nullptr : reinterpret_cast<void*>(result); }

uint64_t Clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);  // by way of the vDSO: enters no kernel
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int Stat(int fd, struct stat* info) {
  return static_cast<int>(Syscall(SYS_newfstatat, fd, "", info, AT_EMPTY_PATH));
}

}  // namespace

void* MapPrivate(size_t bytes) {
  return Mapped(Syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void* MapShared(int fd, uint64_t offset, size_t bytes, void* hint) {
  return Mapped(Syscall(SYS_mmap, hint, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset));
}

void Unmap(void* address, size_t bytes) { Syscall(SYS_munmap, address, bytes); }

void* MapWipedOnFork(size_t bytes) {
  void* page = MapPrivate(bytes);
  if (page == nullptr) return nullptr;
  if (Syscall(SYS_madvise, page, bytes, MADV_WIPEONFORK) < 0) {
    Unmap(page, bytes);
    return nullptr;
  }
  return page;
}

int CreateFile(const char* path) {
  return static_cast<int>(Syscall(SYS_openat, AT_FDCWD, path,
                                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

int OpenFile(const char* path) {
  return static_cast<int>(
      Syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0));
}

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
  const long fd = Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd < 0) return static_cast<int>(fd);
  struct stat info;
  const int known = Stat(static_cast<int>(fd), &info);
  Close(static_cast<int>(fd));
  if (known < 0) return known;
  if (info.st_uid != uid && info.st_uid != 0) return -EPERM;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0) return -EPERM;
  return 0;
}

int Rename(const char* from, const char* to) {
  return static_cast<int>(Syscall(SYS_rename, from, to));
}

int Unlink(const char* path) { return static_cast<int>(Syscall(SYS_unlink, path)); }

long ReadWhole(const char* path, char* buffer, size_t bytes) {
  const long fd = Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return fd;
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

long ReadLink(const char* path, char* buffer, size_t bytes) {
  const long length = Syscall(SYS_readlinkat, AT_FDCWD, path, buffer, bytes - 1);
  buffer[length > 0 ? length : 0] = '\0';
  return length;
}

uint32_t ProcessId() { return static_cast<uint32_t>(Syscall(SYS_getpid)); }
uint32_t ParentProcessId() { return static_cast<uint32_t>(Syscall(SYS_getppid)); }

uint32_t ThreadId() {
  const long id = Syscall(SYS_gettid);
  return id < 0 ? 0 : static_cast<uint32_t>(id);
}

uint32_t EffectiveUserId() { return static_cast<uint32_t>(Syscall(SYS_geteuid)); }

uint64_t RandomSeed() {
  uint64_t seed = 0;
  if (Syscall(SYS_getrandom, &seed, sizeof seed, 1 /* GRND_NONBLOCK */) != sizeof seed) {
    seed = MonotonicNs() ^ (uint64_t{ProcessId()} << 32);
  }
  return seed;
}

// Strict seccomp forbids reading the processor's clock as well; the coarse time needs none.
uint64_t MonotonicNs() {
  return Clock(SyscallsFrozen() ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC);
}
uint64_t RealtimeNs() { return Clock(CLOCK_REALTIME); }

bool RunsWithElevatedRights() { return getauxval(AT_SECURE) != 0; }

}  // namespace heapgauge::agent::os
