#include "endpoint/api/watch_history.h"

#include <algorithm>

namespace heapgauge::endpoint::api {

bool WatchHistory::IsDue(uint64_t time_ns) const {
  const std::lock_guard lock(mutex_);
  return looks_.empty() || time_ns >= looks_.back().time_ns + least_ns_;
}

void WatchHistory::Add(const Look& look) {
  const std::lock_guard lock(mutex_);
  // Two may have asked at the same time.
  if (!looks_.empty() && look.time_ns <= looks_.back().time_ns) return;
  looks_.push_back(look);
  if (looks_.size() < kMost) return;
  size_t kept = 0;
  for (size_t i = 0; i < looks_.size(); i += 2) looks_[kept++] = looks_[i];
  looks_.resize(kept);
  least_ns_ *= 2;
}

std::vector<WatchHistory::Look> WatchHistory::looks() const {
  const std::lock_guard lock(mutex_);
  return looks_;
}

std::vector<TimelinePoint> WatchHistory::Complete(std::vector<TimelinePoint> points) const {
  std::vector<TimelinePoint> all;
  auto next = points.begin();
  uint64_t allocated = 0;
  uint64_t freed = 0;
  const auto take_up_to = [&](uint64_t time_ns) {
    for (; next != points.end() && next->time_ns <= time_ns; ++next) {
      allocated = next->allocated_bytes;
      freed = next->freed_bytes;
      all.push_back(*next);
    }
  };
  for (const Look& look : looks()) {
    take_up_to(look.time_ns);
    const bool is_near = (!all.empty() && look.time_ns - all.back().time_ns < kLeastNs) ||
                         (next != points.end() && next->time_ns - look.time_ns < kLeastNs);
    if (is_near) continue;
    TimelinePoint point;
    point.time_ns = look.time_ns;
    point.live_bytes = look.live_bytes;
    // Sums do not fall: what was known before.
    point.allocated_bytes = allocated;
    point.freed_bytes = freed;
    point.resident_bytes = look.memory.resident_bytes;
    all.push_back(point);
  }
  take_up_to(UINT64_MAX);
  return all;
}

void WatchHistory::AddMemory(Timeline* timeline) const {
  const std::vector<Look> seen = looks();
  auto look = seen.begin();
  const Look* last = nullptr;
  for (TimelineStep& step : timeline->steps) {
    for (; look != seen.end() && look->time_ns <= step.time_ns; ++look) last = &*look;
    if (last == nullptr) continue;
    const MemoryNow& memory = last->memory;
    if (step.resident_bytes == 0) step.resident_bytes = memory.resident_bytes;
    step.swapped_bytes = memory.swapped_bytes;
    step.cgroup_bytes = memory.cgroup_bytes;
    step.cgroup_limit = memory.cgroup_limit;
  }
  Summarize(timeline);
}

}  // namespace heapgauge::endpoint::api
