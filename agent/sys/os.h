// The whole surface between the agent and the operating system, apart from unwinding and memory
// (os_memory.h): raw system calls, and the calls of agent::os that are made of them.
//
// Allocation-free, async-signal-safe, without errno. Results of calls that enter the kernel are the
// kernel's: a negative value is -errno. Once system calls are frozen all of them fail.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/sys/arch.h"

namespace heapgauge::agent {

// A program may install a seccomp filter that kills it for a call it did not foresee. Once
// FreezeSyscalls() was called (agent/hooks/libc_hooks.cc sees such a filter coming), every
// Syscall() returns -ENOSYS without entering the kernel, and the agent uses what it has.
inline std::atomic<bool> syscalls_frozen{false};

inline void FreezeSyscalls() { syscalls_frozen.store(true, std::memory_order_relaxed); }
inline void ThawSyscalls() { syscalls_frozen.store(false, std::memory_order_relaxed); }
inline bool SyscallsFrozen() { return syscalls_frozen.load(std::memory_order_relaxed); }

namespace internal {
template <typename T>
inline long Word(T value) {
  if constexpr (__is_same(T, decltype(nullptr))) {
    return 0;
  } else {
    return (long)value;  // pointers and integers alike, as the kernel sees them
  }
}
}  // namespace internal

// A raw system call: no cancellation point, nothing of libc in between.
template <typename... Args>
inline long Syscall(long number, Args... args) {
  static_assert(sizeof...(Args) <= 6);
  if (SyscallsFrozen()) return -ENOSYS;
  long a[6] = {internal::Word(args)...};
  return arch::Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace heapgauge::agent

namespace heapgauge::agent::os {

// Opens a new file that only its owner may read and write; fails if the name exists or is a link.
int CreateFile(const char* path);
// Opens an existing file for writing, never through a link.
int OpenFile(const char* path);
void Close(int fd);
// Reserves space and extends the file to offset + bytes. Checks RLIMIT_FSIZE first, since passing
// it would raise SIGXFSZ: -EFBIG then.
int Reserve(int fd, uint64_t offset, uint64_t bytes);
// Identifies an open file; false if that cannot be told.
bool FileIdentity(int fd, uint64_t* device, uint64_t* inode);
// Makes the directory with mode 0700 if it is not there, and checks that it is a directory of this
// user that nobody else may write to. 0 or -errno.
int EnsureDirectory(const char* path, uint32_t uid);
// Ended with NUL; its length with that, or -errno.
long CurrentDirectory(char* buffer, size_t bytes);
// Fails if `to` exists.
int RenameToNew(const char* from, const char* to);
int Unlink(const char* path);
bool Exists(const char* path);
int OpenForReading(const char* path);
// Bytes read, 0 at the end, or -errno.
long Read(int fd, void* buffer, size_t bytes);
// Writes all of it at the offset: 0 or -errno. REQUIRES: SignalsBlocked, since a file that may not
// grow any more raises SIGXFSZ.
int WriteAt(int fd, const void* data, size_t bytes, uint64_t offset);
// Reads at most bytes - 1 of a file and ends them with NUL; the number read or -errno.
long ReadWhole(const char* path, char* buffer, size_t bytes);
// The same for a file that decides what this process does: it must be a plain file that belongs to
// root or to `uid`, and that not everybody may write to; -EPERM if it is not.
long ReadTrustedFile(const char* path, uint32_t uid, char* buffer, size_t bytes);
// Target of a symbolic link, ended with NUL; its length or -errno.
long ReadLink(const char* path, char* buffer, size_t bytes);

uint32_t ProcessId();
// Field 22 of /proc/self/stat, which tells a process from another that had its number; 0 unknown.
uint64_t ProcessStartTicks();
// Inode of /proc/self/ns/pid, which tells whose numbers ProcessId is one of; 0 unknown.
uint64_t PidNamespace();
uint32_t ParentProcessId();
uint32_t ThreadId();  // 0 if it cannot be told
// What the calling thread is called, 15 bytes and a zero; empty if it cannot be told.
void ThreadName(uint64_t (&name)[2]);
uint32_t EffectiveUserId();
uint64_t RandomSeed();

// The clock to use from now on: the C library's own, since a program may define a clock_gettime
// that allocates. Until then, and where it is null, the time is asked of the kernel.
void UseLibcClock(void* clock_gettime_function);
uint64_t MonotonicNs();
uint64_t RealtimeNs();
// The same as MonotonicNs, which takes to a coarser clock once system calls are frozen. This one
// does not: it may then be read only if ClockNeedsNoKernel, and not under strict seccomp at all.
uint64_t FineMonotonicNs();
bool ClockNeedsNoKernel();

// Keeps all signals from this thread for as long as it lives, and swallows the SIGPIPE or SIGXFSZ
// that it brings upon itself by writing.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
  uint64_t own_ = 0;  // of those two, the ones that were not pending yet
  bool ok_ = false;
};
// Writes a line to an open stream with one call, unless that would have to wait. REQUIRES:
// SignalsBlocked.
void WriteLine(int fd, const char* text, size_t bytes);
// Sleeps; false, at once, if that is not possible.
bool Nap(uint64_t nanoseconds);

// Calls run(argument) where descriptors may be opened although the program has none left: in a
// child that shares the memory of this process, mappings included, and has a copy of its
// descriptors, of which it has closed one. Only `run` is executed there, with all signals blocked,
// while this thread stands still; the program's other threads do not notice, nor does whoever waits
// for children (unless for all, by __WALL) or traces them. False if that cannot be had.
bool RunWithSpareDescriptor(void (*run)(void*), void* argument);

// Does the kernel say that this code is not on a signal handler's alternate stack? False if it
// cannot be asked. Of one that is disarmed while its handler runs (SS_AUTODISARM) it knows nothing.
bool OffAlternateStack();

// True for set-user-id programs and the like: the agent stays out of those.
bool RunsWithElevatedRights();

}  // namespace heapgauge::agent::os
