#include "core/leaks/verdict/run_clock.h"

#include <algorithm>

namespace heapgauge::leaks {
namespace {

constexpr size_t kFewestPoints = 4;

uint64_t StartOf(const Profile& profile) {
  const RecordingFacts& recording = profile.recording;
  // The clock of a forked child began with its parent.
  if (recording.forked && !profile.timeline.empty()) {
    return std::max(recording.reset_ns, profile.timeline.front().time_ns);
  }
  return recording.reset_ns;
}

// A moment counts for at most so many times the rate that this share of the run stays below.
constexpr double kMostBusy = 2;
constexpr double kNotBusy = 0.9;

// Cuts down what stands out: a single block that is as large as what hundreds of requests allocate,
// such as a vector that doubles, is not the work of as many. While time seems to stand still in it,
// nothing else is born, and growth looks interrupted.
void LimitJumps(std::vector<std::pair<uint64_t, double>>* work) {
  struct Step {
    double rate = 0;
    double time = 0;
  };
  std::vector<Step> steps;
  for (size_t i = 1; i < work->size(); ++i) {
    const double time = static_cast<double>((*work)[i].first - (*work)[i - 1].first);
    steps.push_back({((*work)[i].second - (*work)[i - 1].second) / time, time});
  }
  std::vector<Step> sorted = steps;
  std::sort(sorted.begin(), sorted.end(),
            [](const Step& a, const Step& b) { return a.rate < b.rate; });
  const double whole = static_cast<double>(work->back().first - work->front().first);
  double passed = 0;
  double busy = 0;
  for (const Step& step : sorted) {
    busy = step.rate;
    passed += step.time;
    if (passed >= kNotBusy * whole) break;
  }
  // Too few samples to tell what is usual.
  if (!(busy > 0)) return;
  double done = work->front().second;
  for (size_t i = 0; i < steps.size(); ++i) {
    done += std::min(steps[i].rate, kMostBusy * busy) * steps[i].time;
    (*work)[i + 1].second = done;
  }
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
  LimitJumps(&work_);
  most = work_.back().second;
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
