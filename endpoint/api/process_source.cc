#include "endpoint/api/process_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/fold/measures.h"
#include "core/leaks/verdict/check_file.h"
#include "core/memory/regions.h"
#include "core/report/views/memory_json.h"
#include "core/trace/answer/trace_moment.h"

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

Source::Facts ProcessSource::facts() {
  Facts facts;
  facts.id = name_.empty() ? std::to_string(process_->pid()) : name_;
  facts.kind = Kind::kProcess;
  facts.pid = process_->pid();
  facts.title = facts.id;
  if (const auto known = process_->Facts()) {
    facts.title = known->name() + " " + std::to_string(known->pid);
    facts.live = known->state == RecordingState::kLive;
  }
  return facts;
}

std::string ProcessSource::EditionOf(const std::string& hold) {
  if (!facts().live) return Source::EditionOf(hold);
  return hold.empty() ? "" : "of " + hold;
}

Result<std::shared_ptr<const Profile>> ProcessSource::Ask(const Filter& filter) {
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
  const bool freed = question.only_freed() && !filter.peak;
  if (!freed && !question.only_peak_or_end()) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "a sampled process does not know moments, ranges and single blocks; record a trace: "
        "heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  const bool peak = filter.peak || question.at == "peak";
  HG_ASSIGN(std::shared_ptr<const Profile> profile,
            process_->TakeWithNames(peak ? Moment::kPeak : Moment::kNow));
  if (!peak) Note(*profile);
  if (!freed) return profile;
  auto with_freed = std::make_shared<Profile>(*profile);
  HG_TRY(AddFreed(question.blocks, with_freed.get()));
  return with_freed;
}

void ProcessSource::Note(const Profile& profile) {
  const RecordingFacts& recording = profile.recording;
  if (recording.state != RecordingState::kLive || !history_.IsDue(recording.duration_ns)) return;
  const auto memory = process_->GlanceAtMemory();
  if (!memory) return;
  WatchHistory::Look look;
  look.time_ns = recording.duration_ns;
  if (profile.sample_types.size() == kHeapTypes) {
    look.live_bytes =
        static_cast<uint64_t>(std::llround(std::max(0.0, profile.Total(kInuseSpace).value)));
  }
  look.memory = *memory;
  history_.Add(look);
}

Result<leaks::Check> ProcessSource::LeaksOfFile() {
  const std::string path = process_->gauge_path();
  if (path.empty()) {
    return Fail(ErrorCode::kUnavailable, "there is no gauge file of this process here");
  }
  HG_ASSIGN(leaks::Check check, leaks::CheckFile(path));
  process_->AddNames(&check.known.profile);
  return check;
}

Result<TimeRange> RangeSinceStart(const Source::Stretch& stretch) {
  TimeRange range;
  if (!KeyOf(stretch.filter, kBlockFields | kStackFields).empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "only a trace knows single blocks and stacks over time: heapgauge run --trace -o "
                "FILE.hgt -- COMMAND");
  }
  const std::string& from = stretch.filter.from;
  const std::string& to = stretch.filter.to;
  if (!from.empty()) {
    HG_ASSIGN(range.from_ns, trace::ParseDuration(from));
  }
  if (!to.empty()) {
    HG_ASSIGN(range.to_ns, trace::ParseDuration(to));
  }
  if (range.from_ns > range.to_ns) {
    return Fail(ErrorCode::kInvalidArgument, "from is behind to");
  }
  return range;
}

Result<Timeline> TimelineIfKnown(const Profile& profile, const TimeRange& range) {
  const bool counts_time = profile.timeline_axis == TimeAxis::kTime;
  if (!profile.timeline.empty() && counts_time) {
    return TimelineOfProfile(profile, TimeAxis::kTime, range.from_ns, range.to_ns);
  }
  Timeline none;
  none.recording = profile.recording;
  none.notes.emplace_back(counts_time ? "there are no points in time in it"
                                      : std::string("its points count ") +
                                            TimeAxisName(profile.timeline_axis) +
                                            ", not time: heapgauge timeline shows them");
  return none;
}

Result<Timeline> ProcessSource::Over(const Stretch& stretch) {
  HG_ASSIGN(const TimeRange range, RangeSinceStart(stretch));
  if (stretch.stacks + stretch.threads > 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "a sampled process does not know what single stacks and threads did over time");
  }
  HG_ASSIGN(const std::shared_ptr<const Profile> profile, process_->Take(Moment::kNow));
  Note(*profile);
  const std::vector<TimelinePoint> points = history_.Complete(PointsOf(*profile));
  if (points.empty()) return TimelineIfKnown(*profile, range);
  HG_ASSIGN(Timeline timeline, TimelineOfPoints(profile->recording, points, TimeAxis::kTime,
                                                range.from_ns, range.to_ns));
  history_.AddMemory(&timeline);
  return timeline;
}

// The regions are those of now, whatever moment the filter asks for.
Result<std::string> ProcessSource::MemoryMap(const Filter& /*filter*/, const MapWords& words) {
  HG_ASSIGN(const MemorySurvey survey, process_->Memory());
  HG_ASSIGN(const std::shared_ptr<const Profile> profile, process_->TakeWithNames(Moment::kNow));
  return RegionMapJson(survey, RegionsOf(survey, *profile, words.rows), *profile);
}

}  // namespace heapgauge::endpoint::api
