#include "agent/unwind/stack_memory.h"

#include "agent/sys/os.h"

extern "C" {
// Where the main thread's stack began; kept by the dynamic linker.
extern void* __libc_stack_end;
}

namespace heapgauge::agent {
namespace {

constexpr uintptr_t PageOf(uintptr_t address) { return address & ~(arch::kPageBytes - 1); }

}  // namespace

bool ProbeReadable(uintptr_t address) {
  // The kernel copies the new mask before it looks at `how`: EFAULT means not readable, EINVAL that
  // it was, and nothing is changed.
  constexpr int kInvalidHow = -1;
  constexpr int kMaskBytes = 8;
  return Syscall(SYS_rt_sigprocmask, kInvalidHow, address, nullptr, kMaskBytes) == -EINVAL;
}

void StackMemory::ChangeThread(uintptr_t tcb) {
  Forget();
  tcb_ = tcb;
}

bool StackMemory::OnMainThread() {
  if (main_thread_ == 0) {
    const long tid = Syscall(SYS_gettid);
    if (tid < 0) return true;  // frozen: claim nothing about the thread control block
    main_thread_ = tid == Syscall(SYS_getpid) ? 2 : 1;
  }
  return main_thread_ == 2;
}

// Makes [page of sp, own_high) the own stack if that can be proven.
[[gnu::noinline]] void StackMemory::FindOwn(uintptr_t sp, bool running) {
  if (sp % 8 != 0) return;
  const uintptr_t main_end = reinterpret_cast<uintptr_t>(__libc_stack_end) & ~uintptr_t{7};
  uintptr_t high = own_high_;
  if (high == 0) {
    if (sp < main_end && main_end - sp <= kMainStackLimit) {
      high = main_end;
    } else if (!OnMainThread()) {
      // On the main thread the block lies anywhere, maybe just above some coroutine's stack.
      high = tcb_ & ~uintptr_t{7};
    }
  }
  if (sp >= high) return;
  if (high == main_end && running && high - sp <= kMainStackLimit) {
    own_low_ = sp;
    own_high_ = high;
    return;
  }
  const uintptr_t proven = own_high_ != 0 ? own_low_ : high;
  if (sp < hole_end_ || proven - sp > kMaxProbes * arch::kPageBytes) return;
  if (!ProbeUpTo(sp, proven)) return;
  own_low_ = sp;
  own_high_ = high;
}

bool StackMemory::ProbeUpTo(uintptr_t from, uintptr_t to) {
  if (SyscallsFrozen()) return false;
  for (uintptr_t page = PageOf(from); page < to; page += arch::kPageBytes) {
    if (!ProbeReadable(page)) {
      if (!SyscallsFrozen()) hole_end_ = page + arch::kPageBytes;
      return false;
    }
  }
  return true;
}

[[gnu::noinline]] bool StackMemory::Probe(uintptr_t address) {
  if (address % 8 != 0 || !ProbeReadable(address)) return false;
  const uintptr_t page = PageOf(address);
  if (page == probed_high_) {
    probed_high_ += arch::kPageBytes;
  } else if (page + arch::kPageBytes == probed_low_) {
    probed_low_ = page;
  } else {
    probed_low_ = page;
    probed_high_ = page + arch::kPageBytes;
  }
  return true;
}

}  // namespace heapgauge::agent
