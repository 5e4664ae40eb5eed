// A lock that is only ever tried. Whoever finds it taken does without, or waits for a bounded time.
//
// It may be left locked for ever: by a signal handler that jumps out of the section, or in a forked
// child. So after ten seconds, far longer than any section takes, it counts as free again. What it
// guards must stay memory-safe if a thread that was stopped for so long goes on. Zero-initialised.
// Allocation-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/os.h"

namespace heapgauge::agent {

class TryLock {
 public:
  bool Lock() {
    const uint64_t now = os::MonotonicNs() | 1;
    uint64_t since = since_.load(std::memory_order_relaxed);
    // It may have been taken after we looked at the clock: then `since` is the later of the two.
    if (since != 0 && (now < since || now - since < kForgottenNs)) return false;
    return since_.compare_exchange_strong(since, now, std::memory_order_acquire);
  }
  // The same, waiting some microseconds if need be.
  bool LockSoon() {
    for (int spins = 0; spins < 1000; ++spins) {
      if (since_.load(std::memory_order_relaxed) == 0 && Lock()) return true;
      arch::Pause();
    }
    return Lock();
  }
  bool locked() const { return since_.load(std::memory_order_relaxed) != 0; }
  void Unlock() { since_.store(0, std::memory_order_release); }

 private:
  static constexpr int64_t kForgottenNs = 10'000'000'000;
  std::atomic<uint64_t> since_;  // 0: free
};

}  // namespace heapgauge::agent
