// Pointers of reached blocks on their way to what they lead to: some hundred are gathered, so that
// what is known of each target is in the cache when its turn comes. Writing there would wait, too.
//
// Owned by one thread. Holds 6 KiB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/marks.h"

namespace heapgauge::leaks {

class ReachSteps {
 public:
  // It must outlive this.
  explicit ReachSteps(Marks* marks) : marks_(*marks) {}

  // The word at `address` of `from`, which is reached, points to this place of `to`.
  void Add(uint64_t address, uint32_t from, uint32_t to, Place place) {
    marks_.Prefetch(to);
    steps_[size_] = {address, from, to, place};
    // What is known already is dropped, without a decision that a processor could guess wrongly.
    size_ += marks_.Matters(to);
    if (size_ == steps_.size()) Flush();
  }
  // All that was added has been reached afterwards.
  void Flush() {
    for (size_t i = 0; i < size_; ++i) {
      const Step& step = steps_[i];
      marks_.Reach(step.to, step.place, {step.address, step.from, false});
    }
    size_ = 0;
  }

 private:
  struct Step {
    uint64_t address;
    uint32_t from;
    uint32_t to;
    Place place;
  };

  Marks& marks_;
  std::array<Step, 256> steps_;
  size_t size_ = 0;
};

}  // namespace heapgauge::leaks
