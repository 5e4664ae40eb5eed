// What the service believes it holds, so that a reader can compare a profile with the truth.
//
// One Account per part of the service. Only payload is counted: the tokens, pictures and buffers,
// not the nodes of the maps that keep them. Threads: any number may add at once.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_ACCOUNTING_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_ACCOUNTING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace demo {

class Account {
 public:
  void Allocated(size_t bytes) {
    live_.fetch_add(bytes, std::memory_order_relaxed);
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void Freed(size_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t live() const { return live_.load(std::memory_order_relaxed); }
  uint64_t allocated() const { return allocated_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> live_{0};
  std::atomic<uint64_t> allocated_{0};
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_ACCOUNTING_H_
