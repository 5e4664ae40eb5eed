#include "core/leaks/growth/run_clock.h"

#include <algorithm>

namespace heapgauge::leaks {
namespace {

constexpr size_t kFewestPoints = 4;

uint64_t StartOf(const Profile& profile) {
  const Recording& recording = profile.recording;
  // The clock of a forked child began with its parent.
  if (recording.forked && !profile.timeline.empty()) {
    return std::max(recording.reset_ns, profile.timeline.front().time_ns);
  }
  return recording.reset_ns;
}

}  // namespace

RunClock::RunClock(uint64_t from_ns, uint64_t now_ns, const std::vector<TimelinePoint>& timeline)
    : from_ns_(std::min(from_ns, now_ns)), now_ns_(now_ns) {
  double most = 0;
  work_.emplace_back(from_ns_, 0);
  for (const TimelinePoint& point : timeline) {
    if (point.time_ns <= work_.back().first || point.time_ns > now_ns_) continue;
    // A point from before a reset, or a damaged one: what was allocated never gets less.
    most = std::max(most, static_cast<double>(point.allocated_bytes));
    work_.emplace_back(point.time_ns, most);
  }
  if (work_.size() < kFewestPoints || !(most > 0)) {
    work_.clear();
    return;
  }
  // From the last point on, work goes on as on average: nobody looked.
  const double seen = static_cast<double>(work_.back().first - from_ns_);
  const double whole = most * static_cast<double>(length_ns()) / seen;
  if (work_.back().first < now_ns_) work_.emplace_back(now_ns_, whole);
  for (auto& [time, share] : work_) share /= whole;
}

RunClock::RunClock(const Profile& profile, uint64_t now_ns)
    : RunClock(StartOf(profile), now_ns, profile.timeline) {}

double RunClock::ByTime(uint64_t at_ns) const {
  if (at_ns <= from_ns_) return 0;
  if (at_ns >= now_ns_) return 1;
  return static_cast<double>(at_ns - from_ns_) / static_cast<double>(length_ns());
}

double RunClock::ByWork(uint64_t at_ns) const {
  if (work_.empty() || at_ns <= from_ns_ || at_ns >= now_ns_) return ByTime(at_ns);
  const auto after = std::upper_bound(
      work_.begin(), work_.end(), at_ns,
      [](uint64_t at, const std::pair<uint64_t, double>& point) { return at < point.first; });
  const auto before = after - 1;
  if (after == work_.end()) return 1;
  const double part = static_cast<double>(at_ns - before->first) /
                      static_cast<double>(after->first - before->first);
  return before->second + part * (after->second - before->second);
}

}  // namespace heapgauge::leaks
