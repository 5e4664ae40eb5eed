// Decides which words of a stack may be read. Unwind rules can be wrong and stacks can be unmapped,
// and a profiler must never crash its host: no word is read that is not known to be mapped.
//
// Three kinds of stack:
//   1. The main thread's reaches from the stack pointer to __libc_stack_end without a hole.
//   2. Another glibc thread's reaches up to the thread control block at the top of its mapping. On
//   first use
//      every page in between is probed; what is proven stays proven until Forget(), and is extended
//      downwards by further probes when the stack is found deeper.
//   3. Any other (coroutine, alternate signal stack): it may be gone tomorrow, so its pages are
//   probed
//      anew in each walk.
// The probe is a system call that fails in a telling way. When system calls are frozen only proven
// memory is read.
//
// Used by one thread at a time; zero-initialised memory is a valid fresh object. Allocation-free,
// async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/sys/os.h"
#include "agent/unwind/arch.h"

namespace heapgauge::agent {

// True if the 8 bytes at `address` can be read now. One system call; false when calls are frozen.
bool ProbeReadable(uintptr_t address);

class StackMemory {
 public:
  // Begins a walk. `sp` is the stack pointer of running code, so its page is mapped. False if this
  // is another thread than before: all that was known is forgotten.
  bool StartWalk(uintptr_t sp) {
    probed_low_ = probed_high_ = 0;
    const uintptr_t tcb = arch::ThreadControlBlock();
    const bool same_thread = tcb == tcb_;
    if (!same_thread) [[unlikely]]
      ChangeThread(tcb);
    if (!IsOwn(sp)) [[unlikely]]
      FindOwn(sp, /*running=*/true);
    return same_thread;
  }

  // Is this the thread that all is about, and `sp` in its own stack? Begins no walk.
  bool KnowsAsOwn(uintptr_t sp) const { return arch::ThreadControlBlock() == tcb_ && IsOwn(sp); }

  // The walk goes on at `sp`, found in a signal frame: maybe another stack, maybe nonsense.
  void SwitchTo(uintptr_t sp) {
    if (!IsOwn(sp)) FindOwn(sp, /*running=*/false);
  }

  // May the word at `address` (a multiple of 8) be read in this walk?
  bool MayRead(uintptr_t address) {
    return IsOwn(address) || (address >= probed_low_ && address < probed_high_) || Probe(address);
  }

  // The thread's own stack as far as it is proven: [own_low, own_high). Both are multiples of 8.
  uintptr_t own_low() const { return own_low_; }
  uintptr_t own_high() const { return own_high_; }
  bool IsOwn(uintptr_t address) const { return address - own_low_ < own_high_ - own_low_; }

  // Are both places surely in the own stack? For a signal handler, too, that came between any two
  // steps of the thread's walk.
  bool HasBoth(uintptr_t one, uintptr_t other) const {
    const uintptr_t low = own_low_;
    const uintptr_t high = own_high_;
    return low != 0 && one >= low && one < high && other >= low && other < high;
  }

  // A thread marks what it uses (a lane, a walker) with its stack pointer, so that a signal handler
  // that comes in between keeps away from it. A handler that jumps out of the call leaves the mark
  // behind. Is the thread, whose stack pointer is `sp` now, back from that call? At the same place
  // of its stack, or further up, it is. But handlers may have stacks of their own, which may lie up
  // there too, and coroutines have others to which they will return: so the answer is no wherever
  // both places are not proven to be on the own stack, and where the kernel cannot be asked whether
  // this is a handler's. One system call where the answer may be yes.
  bool IsBackFrom(uintptr_t marked_sp, uintptr_t sp) const {
    return sp >= marked_sp && HasBoth(marked_sp, sp) && os::OffAlternateStack();
  }

  // Where the own stack ends if `sp` is a place in it, else 0.
  uintptr_t EndOf(uintptr_t sp) const { return IsOwn(sp) && sp % 8 == 0 ? own_high_ : 0; }

  // Another thread will use this object, or the thread's stack has changed.
  void Forget() { *this = StackMemory{}; }

 private:
  static constexpr uintptr_t kMainStackLimit = uintptr_t{64} << 20;
  static constexpr uintptr_t kMaxProbes = 4096;

  void ChangeThread(uintptr_t tcb);
  void FindOwn(uintptr_t sp, bool running);
  bool ProbeUpTo(uintptr_t from, uintptr_t to);
  bool Probe(uintptr_t address);
  bool OnMainThread();

  uintptr_t tcb_ = 0;         // of the thread that all this is about
  uintptr_t own_low_ = 0;     // lowest proven address of the own stack
  uintptr_t own_high_ = 0;    // 0: own stack not found yet
  uintptr_t hole_end_ = 0;    // below this address there is a hole under the own stack
  uintptr_t probed_low_ = 0;  // pages of another stack, proven in this walk
  uintptr_t probed_high_ = 0;
  uint32_t main_thread_ = 0;  // 0 not asked yet, 1 no, 2 yes
};

}  // namespace heapgauge::agent
