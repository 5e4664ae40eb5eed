// Points of the timeline of a heaptrack file, which has one for every 10 ms: some are left out of a
// long one, evenly, so that a day takes no more memory than a minute.
//
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

class HeaptrackTimeline {
 public:
  static constexpr size_t kMost = 1 << 15;

  void Add(const TimelinePoint& point) {
    last_ = point;
    if (seen_++ % stride_ != 0) return;
    points_.push_back(point);
    if (points_.size() < kMost) return;
    for (size_t i = 0; i < points_.size() / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(points_.size() / 2);
    stride_ *= 2;
  }

  // With the last point, wherever it falls; of two at one time the last one stays.
  std::vector<TimelinePoint> Take() {
    if (seen_ == 0) return {};
    if (points_.back().time_ns == last_.time_ns) points_.pop_back();
    points_.push_back(last_);
    return std::move(points_);
  }

 private:
  std::vector<TimelinePoint> points_;
  TimelinePoint last_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace heapgauge
