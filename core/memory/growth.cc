#include "core/memory/growth.h"

namespace heapgauge {
namespace {

constexpr size_t kFewestPoints = 5;
constexpr double kShortestSeconds = 5;

}  // namespace

Growth GrowthOf(const std::vector<TimelinePoint>& timeline, uint64_t window_ns) {
  Growth growth;
  if (timeline.empty()) return growth;
  const uint64_t last = timeline.back().time_ns;
  std::vector<const TimelinePoint*> points;
  size_t with_resident = 0;
  for (const TimelinePoint& point : timeline) {
    if (last - point.time_ns > window_ns) continue;
    points.push_back(&point);
    if (point.resident_bytes != 0) ++with_resident;
  }
  growth.of_resident = with_resident >= kFewestPoints;
  double n = 0;
  double sum_t = 0;
  double sum_v = 0;
  double sum_tt = 0;
  double sum_tv = 0;
  double first = 0;
  for (const TimelinePoint* point : points) {
    if (growth.of_resident && point->resident_bytes == 0) continue;
    const double t = static_cast<double>(last - point->time_ns) / -1e9;
    const double v =
        static_cast<double>(growth.of_resident ? point->resident_bytes : point->live_bytes);
    if (n == 0) first = t;
    n += 1;
    sum_t += t;
    sum_v += v;
    sum_tt += t * t;
    sum_tv += t * v;
  }
  const double spread = n * sum_tt - sum_t * sum_t;
  if (n < kFewestPoints || -first < kShortestSeconds || !(spread > 0)) return growth;
  growth.seconds = -first;
  growth.bytes_per_second = (n * sum_tv - sum_t * sum_v) / spread;
  return growth;
}

}  // namespace heapgauge
