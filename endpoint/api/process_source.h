// A process, or the file it left, as a source: what is live now, or was at the peak.
#pragma once

#include <memory>
#include <string>

#include "endpoint/api/source.h"
#include "endpoint/api/watch_history.h"

namespace heapgauge::endpoint::api {

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
