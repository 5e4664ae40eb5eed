// Steps of equal length on an axis, filled from left to right: the inner loop of a timeline. An
// event belongs to the step whose end is at or behind it.
//
// Not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fold/timeline.h"

namespace heapgauge::trace {

class TimelineSteps {
 public:
  TimelineSteps(uint64_t from, uint64_t to, size_t count) : steps_(std::max<size_t>(count, 1)) {
    const auto length = static_cast<double>(to - std::min(from, to));
    const auto n = static_cast<double>(steps_.size());
    uint64_t end = from;
    for (size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].begin = end;
      end = i + 1 == steps_.size()
                ? std::max(from, to)
                : from + static_cast<uint64_t>(length * static_cast<double>(i + 1) / n);
      steps_[i].end = end;
    }
  }

  // What is live before the first event.
  void Begin(uint64_t bytes, uint64_t blocks, uint64_t time_ns) {
    bytes_ = bytes;
    blocks_ = blocks;
    time_ns_ = time_ns;
    Open();
  }

  // Goes on to the step of `at`. Steps that are passed keep what was live.
  void GoTo(uint64_t at) {
    while (current_ + 1 < steps_.size() && at > steps_[current_].end) {
      Close();
      ++current_;
      Open();
    }
  }
  // Whether all up to `at` is in the current step.
  bool Holds(uint64_t at) const {
    return current_ + 1 == steps_.size() || at <= steps_[current_].end;
  }

  TimelineStep& step() { return steps_[current_]; }

  void Live(uint64_t bytes, uint64_t blocks, uint64_t time_ns) {
    bytes_ = bytes;
    blocks_ = blocks;
    time_ns_ = time_ns;
    TimelineStep& step = steps_[current_];
    step.most_bytes = std::max(step.most_bytes, bytes);
    step.least_bytes = std::min(step.least_bytes, bytes);
  }

  std::vector<TimelineStep> Take() {
    while (current_ + 1 < steps_.size()) {
      Close();
      ++current_;
      Open();
    }
    Close();
    return std::move(steps_);
  }

 private:
  void Open() { steps_[current_].most_bytes = steps_[current_].least_bytes = bytes_; }
  void Close() {
    TimelineStep& step = steps_[current_];
    step.live_bytes = bytes_;
    step.live_blocks = blocks_;
    step.time_ns = time_ns_;
  }

  std::vector<TimelineStep> steps_;
  size_t current_ = 0;
  uint64_t bytes_ = 0;
  uint64_t blocks_ = 0;
  uint64_t time_ns_ = 0;
};

}  // namespace heapgauge::trace
