// A process, or the file it left, as a source: what is live now, or was at the peak, and how that
// went over time (WatchHistory, where its gauge file has no past).
//
// Threads: any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/fold/timeline.h"
#include "endpoint/api/source.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint::api {

// What was seen of a process each time that somebody looked at it: a past for processes whose gauge
// file has none, or does not know resident memory and the limit of the cgroup.
//
// Bounded: when it is full every second look is forgotten, and from then on looks are taken half as
// often.
class WatchHistory {
 public:
  static constexpr size_t kMost = 2048;
  static constexpr uint64_t kLeastNs = 500'000'000;  // between two looks, at first

  struct Look {
    uint64_t time_ns = 0;  // since the recording began
    uint64_t live_bytes = 0;
    MemoryNow memory;
  };

  // Whether it is time for another one.
  bool IsDue(uint64_t time_ns) const;
  void Add(const Look& look);
  std::vector<Look> looks() const;

  // Points where nobody noted one: `points` are those of the gauge file.
  std::vector<TimelinePoint> Complete(std::vector<TimelinePoint> points) const;
  // Memory that only the looks know. What was seen holds until the next look.
  void AddMemory(Timeline* timeline) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Look> looks_;  // in order of time
  uint64_t least_ns_ = kLeastNs;
};

class ProcessSource final : public Source {
 public:
  // `name` is what it was asked for by; "": its number.
  explicit ProcessSource(std::shared_ptr<Process> process, std::string name = {})
      : process_(std::move(process)), name_(std::move(name)) {}

  Facts facts() override;
  std::string EditionOf(const std::string& hold) override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;
  Result<leaks::Check> LeaksOfFile() override;
  Result<std::string> MemoryMap(const Filter& filter, const MapWords& words) override;
  std::shared_ptr<Process> process() override { return process_; }

 private:
  // Looks at the process, unless somebody just did.
  void Note(const Profile& profile);

  const std::shared_ptr<Process> process_;
  const std::string name_;
  WatchHistory history_;
};

// [from, to] of a stretch that is counted from the beginning: "", "1.5s", "12:30".
struct TimeRange {
  uint64_t from_ns = 0;
  uint64_t to_ns = ~uint64_t{0};
};
Result<TimeRange> RangeSinceStart(const Source::Stretch& stretch);
// Without steps where the profile has no points in time: for a page that is an answer.
Result<Timeline> TimelineIfKnown(const Profile& profile, const TimeRange& range);

}  // namespace heapgauge::endpoint::api
