// Raw system calls for the agent: no errno, no cancellation point, nothing of libc in between.
//
// Results are the kernel's: a negative value is -errno. Allocation-free and async-signal-safe.
//
// A program may install a seccomp filter that kills it for a call it did not foresee. Once
// FreezeSyscalls() was called (agent/hooks/libc_hooks.cc sees such a filter coming) every call made
// through here answers -ENOSYS without entering the kernel, and the agent lives on what it has.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "agent/sys/arch.h"

namespace heapgauge::agent {

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

template <typename... Args>
inline long Syscall(long number, Args... args) {
  static_assert(sizeof...(Args) <= 6);
  if (SyscallsFrozen()) return -ENOSYS;
  long a[6] = {internal::Word(args)...};
  return arch::Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace heapgauge::agent
