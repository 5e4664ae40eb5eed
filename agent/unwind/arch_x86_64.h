// x86-64 for arch.h. Pure constants and two inline functions: allocation-free, async-signal-safe.
#pragma once

#include <cstdint>
#include <cstring>

namespace heapgauge::agent::arch {

// DWARF numbers of the registers whose rules matter. All others are parsed and ignored.
inline constexpr uint64_t kDwarfFp = 6;   // rbp
inline constexpr uint64_t kDwarfSp = 7;   // rsp
inline constexpr uint64_t kDwarfRa = 16;  // rip, the return address column

// `call` pushes the return address: it lies just below the canonical frame address.
inline constexpr int64_t kReturnSlotOffset = -8;

// Code of user space lies below this address.
inline constexpr int kAddressBits = 47;

inline constexpr uintptr_t kPageBytes = 4096;

// When a signal handler returns into the restorer, sp points to the ucontext of the kernel:
// uc_flags, uc_link, uc_stack (40 bytes), then r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp,
// rip.
inline constexpr uintptr_t kSignalFpOffset = 120;
inline constexpr uintptr_t kSignalSpOffset = 160;
inline constexpr uintptr_t kSignalPcOffset = 168;

// A restorer does nothing but the system call rt_sigreturn (15).
inline constexpr uintptr_t kRestorerBytes = 9;
inline bool IsSignalRestorer(const uint8_t* code) {
  static constexpr uint8_t kLong[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};  // mov, syscall
  static constexpr uint8_t kShort[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return memcmp(code, kLong, sizeof kLong) == 0 || memcmp(code, kShort, sizeof kShort) == 0;
}

// Address of the thread control block. glibc puts it at the upper end of a thread's stack mapping.
inline uintptr_t ThreadControlBlock() {
  uintptr_t tcb;
  __asm__("mov %%fs:0x10, %0" : "=r"(tcb));
  return tcb;
}

}  // namespace heapgauge::agent::arch
