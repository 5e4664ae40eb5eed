// Adds up what happened to each stack while a heaptrack file is read: allocated, live, temporary,
// and what was live when the heap was largest.
//
// heaptrack reads its files twice to know the last of these. Once is enough: a stack notes what it
// held at the latest peak before it changes, and at the end if it never did. 80 bytes for each
// stack. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

struct BlocksAndBytes {
  int64_t blocks = 0;
  int64_t bytes = 0;

  // False if the sums would not fit.
  bool Add(uint64_t size) {
    ++blocks;
    return !__builtin_add_overflow(bytes, static_cast<int64_t>(size), &bytes);
  }
  void Remove(uint64_t size) {
    --blocks;
    bytes -= static_cast<int64_t>(size);
  }
};

class HeaptrackCosts {
 public:
  struct Stack {
    BlocksAndBytes allocated;
    BlocksAndBytes live;
    BlocksAndBytes temporary;
    BlocksAndBytes at_peak;
    uint64_t peak = 0;  // number of the peak that `at_peak` is about
  };

  // REQUIRES: sizes below 2^48. False if sums do not fit into 63 bits.
  bool Allocate(uint32_t stack, uint64_t size) {
    if (stack >= stacks_.size()) stacks_.resize(size_t{stack} + 1);
    Stack& its = stacks_[stack];
    Settle(&its);
    if (!its.allocated.Add(size) || !its.live.Add(size) || !total_.allocated.Add(size) ||
        !total_.live.Add(size)) {
      return false;
    }
    if (total_.live.bytes > total_.at_peak.bytes) {
      total_.at_peak = total_.live;
      ++peak_;
      new_peak_ = true;
    }
    return true;
  }

  // False if the stack has no live block: the free belongs to nothing.
  bool Free(uint32_t stack, uint64_t size, bool temporary) {
    if (stack >= stacks_.size() || stacks_[stack].live.blocks == 0) return false;
    Stack& its = stacks_[stack];
    Settle(&its);
    its.live.Remove(size);
    total_.live.Remove(size);
    if (temporary) {
      its.temporary.Add(size);
      total_.temporary.Add(size);
    }
    return true;
  }

  // The sums over all stacks.
  const Stack& total() const { return total_; }
  // Whether the heap was larger than ever since the last call.
  bool TakeNewPeak() {
    const bool is_new = new_peak_;
    new_peak_ = false;
    return is_new;
  }

  // By number. Call when all is read.
  const std::vector<Stack>& Finish() {
    for (Stack& its : stacks_) Settle(&its);
    return stacks_;
  }

 private:
  void Settle(Stack* its) const {
    if (its->peak == peak_) return;
    its->at_peak = its->live;
    its->peak = peak_;
  }

  std::vector<Stack> stacks_;
  Stack total_;
  uint64_t peak_ = 0;  // how often there was a new one
  bool new_peak_ = false;
};

}  // namespace heapgauge
