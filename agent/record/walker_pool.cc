#include "agent/record/walker_pool.h"

#include "agent/sys/os_memory.h"
#include "agent/sys/thread_state.h"
#include "agent/unwind/stack_memory.h"

namespace heapgauge::agent {

bool WalkerPool::TryTake(Lease* lease, const ThreadState& thread, uintptr_t sp, uint64_t now_ns) {
  uint64_t taken = lease->taken_ns.load(std::memory_order_relaxed);
  if (taken != 0) {
    const bool jumped_out_of = lease->owner == thread.token && sp != lease->sp &&
                               lease->walker.memory().IsBackFrom(lease->sp, sp);
    const bool forgotten = now_ns > taken && now_ns - taken > kForgottenNs;
    if (!jumped_out_of && !forgotten) return false;
  }
  if (!lease->taken_ns.compare_exchange_strong(taken, now_ns | 1)) return false;
  if (taken != 0 || lease->owner != thread.token) lease->walker.Forget();
  lease->owner = thread.token;
  lease->sp = sp;
  return true;
}

// Makes one more walker; its index plus 1, or 0.
uint32_t WalkerPool::Make() {
  const uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxWalkers) {
    count_.store(kMaxWalkers, std::memory_order_relaxed);
    return 0;
  }
  auto* lease = static_cast<Lease*>(os::MapPrivate(sizeof(Lease)));
  if (lease == nullptr) {
    uint32_t mine = index + 1;  // for another try, if no other thread went on behind it
    count_.compare_exchange_strong(mine, index);
    return 0;
  }
  leases_[index].store(lease, std::memory_order_release);
  return index + 1;
}

WalkerPool::Lease* WalkerPool::TakeIdle(const ThreadState& thread, uintptr_t sp, uint64_t now_ns) {
  for (uint32_t tries = 0; tries < kMaxWalkers; ++tries) {
    Lease* lease = leases_[next_.fetch_add(1, std::memory_order_relaxed) % kMaxWalkers].load(
        std::memory_order_acquire);
    if (lease != nullptr && TryTake(lease, thread, sp, now_ns)) return lease;
  }
  return nullptr;
}

WalkerPool::Lease* WalkerPool::Take(ThreadState* thread, uintptr_t sp, uint64_t now_ns) {
  TokenOf(thread);
  const bool has_own = thread->walker != 0;
  if (!has_own) thread->walker = Make();
  if (thread->walker != 0) {
    Lease* own = leases_[thread->walker - 1].load(std::memory_order_acquire);
    if (TryTake(own, *thread, sp, now_ns)) return own;
  }
  if (Lease* idle = TakeIdle(*thread, sp, now_ns)) return idle;
  const uint32_t made = has_own ? Make() : 0;
  if (made == 0) return nullptr;
  Lease* lease = leases_[made - 1].load(std::memory_order_acquire);
  return TryTake(lease, *thread, sp, now_ns) ? lease : nullptr;
}

void WalkerPool::TakeAllBack() {
  for (auto& place : leases_) {
    Lease* lease = place.load(std::memory_order_relaxed);
    if (lease == nullptr) continue;
    lease->walker.Forget();
    lease->taken_ns.store(0);
  }
}

size_t WalkerPool::private_bytes() const {
  const uint32_t count = count_.load(std::memory_order_relaxed);
  return (count < kMaxWalkers ? count : kMaxWalkers) * sizeof(Lease);
}

}  // namespace heapgauge::agent
