// The heap over time, as a list of steps: what was live at the end of each, the most and the least
// within it, what was allocated and freed in it. Traces, gauge files and profiles of other tools
// are all brought into this form, and reports draw it.
//
// "Time" is what the axis counts, see TimeAxis. Plain data and pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// "time", "bytes", "allocations", "instructions".
const char* TimeAxisName(TimeAxis axis);

// What happened behind `begin` and up to `end`, both on the axis.
struct TimelineStep {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t time_ns = 0;     // at the end
  uint64_t live_bytes = 0;  // at the end
  uint64_t live_blocks = 0;
  uint64_t most_bytes = 0;   // live, at any moment within
  uint64_t least_bytes = 0;  // as far as that is known
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;
  // The most within; 0 unknown.
  uint64_t resident_bytes = 0;
  uint64_t proportional_bytes = 0;  // PSS
  uint64_t swapped_bytes = 0;
  uint64_t cgroup_bytes = 0;  // of the process's cgroup
  uint64_t cgroup_limit = 0;
};

struct Timeline {
  struct Moment {
    uint64_t at = 0;  // on the axis
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
    std::optional<uint64_t> blocks;  // nullopt: not known
  };
  struct Marker {
    uint64_t at = 0;
    uint64_t time_ns = 0;
    std::string text;
  };
  // The history of one stack.
  struct Band {
    std::vector<std::string> frames;  // names, innermost first
    uint64_t peak_bytes = 0;          // live at the peak of all
    std::vector<uint64_t> most;       // live, the most within each step
  };
  // What one thread did, within each step.
  struct Lane {
    uint32_t thread = 0;   // the kernel's number; of the others 0
    std::string name;      // "" unknown
    uint64_t threads = 1;  // how many it stands for
    bool is_rest = false;  // all threads that have no lane of their own
    std::vector<uint64_t> allocated_bytes;
    std::vector<uint64_t> allocated_blocks;
    std::vector<uint64_t> freed_bytes;
  };

  TimeAxis axis = TimeAxis::kTime;
  uint64_t from = 0;  // on the axis
  uint64_t to = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  RecordingFacts recording;
  bool exact = false;       // every event is in it; otherwise it is what somebody looked at
  bool knows_time = true;   // not so if massif counted something else
  bool knows_flow = false;  // allocated and freed bytes
  bool knows_blocks = false;
  std::vector<TimelineStep> steps;  // in order, without gaps
  Moment peak;
  Moment last;       // at the end
  TimelineStep sum;  // allocated and freed of all steps; the most of each kind of memory
  std::vector<Marker> markers;
  std::vector<Band> bands;
  std::vector<Lane> lanes;  // the busiest first, the rest last
  std::vector<std::string> notes;
};

// Fails if the points of a profile are placed by something else than time.
Status CheckCountsTime(const Profile& profile);
// Points that somebody took while the program ran. Fails if the profile has none, or places them by
// something else than time. Points outside of [from_ns, to_ns] are left out.
Result<Timeline> TimelineOfProfile(const Profile& profile, TimeAxis axis, uint64_t from_ns,
                                   uint64_t to_ns);
// What is noted in a profile, with the figures of its own moment as the last point.
std::vector<TimelinePoint> PointsOf(const Profile& profile);
// The same of points that come from elsewhere, at least one.
Result<Timeline> TimelineOfPoints(const RecordingFacts& recording,
                                  const std::vector<TimelinePoint>& points, TimeAxis axis,
                                  uint64_t from_ns, uint64_t to_ns);

// Fills in sum, peak and last from the steps. A peak that is known to be higher stays.
void Summarize(Timeline* timeline);

// The same in `count` steps of equal length. What was allocated and freed in a step that is cut is
// divided by length; where nobody looked, what was live stays as it was.
Timeline InSteps(const Timeline& timeline, size_t count);

}  // namespace heapgauge

namespace heapgauge::trace {

// Steps of equal length on an axis, filled from left to right: the inner loop of a timeline. An
// event belongs to the step whose end is at or behind it.
//
// Not synchronised.
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
