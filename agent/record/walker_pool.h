// Lends each sampling thread a Walker, preferably the one it used last, which remembers its stack.
//
// Walkers belong to nobody: a thread takes one for the time of one walk, and one that lies idle may
// be taken by another thread, which only costs it the remembered stack. So nothing has to happen
// when a thread ends, memory is bounded however many threads come and go, and a signal handler that
// samples in the middle of a walk simply gets another walker. One that was never given back (a
// handler jumped out of the walk) is taken again by its own thread further up its stack, or by
// anyone after a while.
//
// Lock-free, allocation-free (maps memory for each new walker), async-signal-safe. Zeroed memory
// is an empty pool.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/thread_state.h"
#include "agent/unwind/walker.h"

namespace heapgauge::agent {

class WalkerPool {
 public:
  struct Lease {
    std::atomic<uint64_t> taken_ns;  // 0 idle
    uint32_t owner;                  // token of the thread whose stack it remembers
    uintptr_t sp;                    // stack pointer of the borrower
    Walker walker;
  };

  // nullptr if none can be had.
  Lease* Take(ThreadState* thread, uintptr_t sp, uint64_t now_ns);
  void GiveBack(Lease* lease) { lease->taken_ns.store(0, std::memory_order_release); }

  // In a forked child: whoever had borrowed a walker is not here.
  void TakeAllBack();

  size_t private_bytes() const;

 private:
  static constexpr uint32_t kMaxWalkers = 256;
  static constexpr uint64_t kForgottenNs = 10'000'000'000;

  bool TryTake(Lease* lease, const ThreadState& thread, uintptr_t sp, uint64_t now_ns);
  Lease* TakeIdle(const ThreadState& thread, uintptr_t sp, uint64_t now_ns);
  uint32_t Make();

  std::atomic<Lease*> leases_[kMaxWalkers];
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> next_;
};

}  // namespace heapgauge::agent
