// x86-64 for arch.h, which has the contracts.
#pragma once

#include <cstdint>

namespace heapgauge::agent::arch {

inline long Syscall6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

inline long RunInChild(long flags, void (*run)(void*), void* argument) {
  constexpr int kClone = 56;
  constexpr int kExit = 60;
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  // The child goes on below what the thread may have under its stack pointer.
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "lea -256(%%rsp), %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "mov %[argument], %%rdi\n\t"
      "call *%[run]\n\t"
      "xor %%edi, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "a"(kClone), "D"(flags), "S"(0), "d"(0), "r"(r10),
        "r"(r8), [run] "r"(run), [argument] "r"(argument), [exit] "i"(kExit)
      : "rcx", "r11", "cc", "memory");
  return result;
}

inline void Pause() { __asm__ volatile("pause"); }

// Without the fence it would not wait for loads: whoever frees a block that another thread has just
// handed over could read it before that thread did. Stores wait for it by themselves.
inline uint64_t CycleCounter() {
  uint32_t low, high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}

inline uint64_t EarlyCycleCounter() {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}

}  // namespace heapgauge::agent::arch
