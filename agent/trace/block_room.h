// How large a block of the allocator really is, asked for every block of a trace.
//
// glibc's malloc_usable_size also looks whether the block is in use, and that stands in the head of
// the next chunk: memory that nobody else needs now, and mostly not in the processor's cache. The
// size itself is in the word in front of the block. So over glibc that word is read, once it has
// agreed with the function often enough; if it ever disagrees before, the function is asked for
// good.
//
// Any thread, no locks, allocation-free, async-signal-safe. Constant-initialised.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapgauge::agent {

class BlockRoom {
 public:
  using Function = size_t(uintptr_t block);

  // `function` tells the size of a block; nullptr: nobody can. `has_heads`: blocks seem to be
  // glibc's. Before the first question.
  void Use(Function* function, bool has_heads) {
    function_ = function;
    trials_.store(has_heads && function != nullptr ? kTrials : kNever, std::memory_order_relaxed);
  }

  // Of a live block for which so many bytes were requested.
  size_t Of(uintptr_t block, size_t requested) {
    if (trials_.load(std::memory_order_relaxed) == 0) [[likely]]
      return InHead(block);
    return function_ != nullptr ? Ask(block) : requested;
  }

 private:
  static constexpr uint32_t kTrials = 256;
  static constexpr uint32_t kNever = ~uint32_t{0};

  static size_t InHead(uintptr_t block) {
    constexpr size_t kFlags = 7;
    constexpr size_t kMapped = 2;
    const size_t word = *reinterpret_cast<const size_t*>(block - sizeof(size_t));
    // Of a chunk with neighbours the first word of the next one belongs to the block.
    return (word & ~kFlags) - ((word & kMapped) != 0 ? 2 : 1) * sizeof(size_t);
  }

  [[gnu::noinline]] size_t Ask(uintptr_t block) {
    const size_t room = function_(block);
    uint32_t left = trials_.load(std::memory_order_relaxed);
    if (left == kNever || left == 0) return room;
    // Two threads may count one trial as one: no matter.
    const uint32_t next = InHead(block) == room ? left - 1 : kNever;
    trials_.compare_exchange_strong(left, next, std::memory_order_relaxed);
    return room;
  }

  Function* function_ = nullptr;
  std::atomic<uint32_t> trials_{kNever};  // to go; 0: the word is read
};

}  // namespace heapgauge::agent
