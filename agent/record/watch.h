// Tells another library in the process when totals pass its marks (wire/in_process.h).
//
// Counts at every sample, so that marks may be set at any time. Lock-free, allocation-free; usable
// from zeroed memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "wire/in_process.h"

namespace heapgauge::agent {

class Watch {
 public:
  void Set(wire::WatchCallback* callback, const wire::Marks& marks);
  wire::Marks Totals() const;

  // Of samples; `bytes` is what one stands for.
  void CountAllocation(uint64_t bytes) {
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
    if (armed_.load(std::memory_order_acquire)) Check();
  }
  void CountFree(uint64_t bytes) {
    freed_.fetch_add(bytes, std::memory_order_relaxed);
    if (armed_.load(std::memory_order_acquire)) Check();
  }
  // After a reset.
  void Forget();

 private:
  void Check();

  std::atomic<bool> armed_;
  std::atomic<uint64_t> allocated_;
  std::atomic<uint64_t> freed_;
  std::atomic<wire::WatchCallback*> callback_;
  std::atomic<uint64_t> allocated_mark_;
  std::atomic<uint64_t> freed_mark_;
  std::atomic<uint64_t> live_mark_;
};

}  // namespace heapgauge::agent
