#include "core/fold/timeline.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace heapgauge {
namespace {

// A step up to a point that was taken at one moment.
TimelineStep StepTo(uint64_t begin, uint64_t end, uint64_t time_ns, uint64_t live) {
  TimelineStep step;
  step.begin = begin;
  step.end = end;
  step.time_ns = time_ns;
  step.live_bytes = step.most_bytes = step.least_bytes = live;
  return step;
}

uint64_t Growth(uint64_t before, uint64_t after) { return after > before ? after - before : 0; }

// What the kernel said of the process.
void NoteMemory(const TimelineStep& from, TimelineStep* step) {
  for (uint64_t TimelineStep::*const field :
       {&TimelineStep::resident_bytes, &TimelineStep::proportional_bytes,
        &TimelineStep::swapped_bytes, &TimelineStep::cgroup_bytes, &TimelineStep::cgroup_limit}) {
    step->*field = std::max(step->*field, from.*field);
  }
}

void AddFlow(const TimelineStep& from, double share, TimelineStep* to) {
  const auto part = [share](uint64_t value) {
    return share >= 1 ? value
                      : static_cast<uint64_t>(std::llround(static_cast<double>(value) * share));
  };
  to->allocated_bytes += part(from.allocated_bytes);
  to->allocated_blocks += part(from.allocated_blocks);
  to->freed_bytes += part(from.freed_bytes);
  to->freed_blocks += part(from.freed_blocks);
}

// A gauge file notes a point about once a second; its figures are of the last moment.
std::optional<TimelinePoint> PointOfNow(const Profile& profile) {
  const RecordingFacts& r = profile.recording;
  const bool is_gauge = r.interval > 0 && profile.sample_types.size() == kHeapTypes;
  if (!is_gauge || r.is_peak || r.duration_ns <= profile.timeline.back().time_ns) return {};
  TimelinePoint now = profile.timeline.back();
  now.time_ns = r.duration_ns;
  const auto total = [&](HeapType type) {
    return static_cast<uint64_t>(std::llround(std::max(0.0, profile.Total(type).value)));
  };
  now.live_bytes = total(kInuseSpace);
  now.live_objects = total(kInuseObjects);
  now.allocated_bytes = std::max(now.allocated_bytes, total(kAllocSpace));
  now.freed_bytes = std::max(now.freed_bytes, Growth(now.live_bytes, now.allocated_bytes));
  return now;
}

}  // namespace

const char* TimeAxisName(TimeAxis axis) {
  switch (axis) {
    case TimeAxis::kTime:
      break;
    case TimeAxis::kBytes:
      return "bytes";
    case TimeAxis::kEvents:
      return "allocations";
    case TimeAxis::kInstructions:
      return "instructions";
  }
  return "time";
}

Status CheckCountsTime(const Profile& profile) {
  if (profile.timeline_axis == TimeAxis::kTime) return {};
  return Fail(ErrorCode::kUnsupported,
              std::string("its points count ") + TimeAxisName(profile.timeline_axis) +
                  ", not time; save it as a file and use heapgauge timeline FILE");
}

void Summarize(Timeline* timeline) {
  const auto blocks_at = [&](const TimelineStep& step) {
    return timeline->knows_blocks ? std::optional(step.live_blocks) : std::nullopt;
  };
  timeline->sum = {};
  for (const TimelineStep& step : timeline->steps) {
    AddFlow(step, 1, &timeline->sum);
    NoteMemory(step, &timeline->sum);
    if (step.most_bytes > timeline->peak.bytes) {
      timeline->peak = {step.end, step.time_ns, step.most_bytes,
                        step.most_bytes == step.live_bytes ? blocks_at(step) : std::nullopt};
    }
  }
  if (timeline->steps.empty()) return;
  const TimelineStep& end = timeline->steps.back();
  timeline->last = {end.end, end.time_ns, end.live_bytes, blocks_at(end)};
}

Result<Timeline> TimelineOfProfile(const Profile& profile, TimeAxis axis, uint64_t from_ns,
                                   uint64_t to_ns) {
  if (profile.timeline.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "this profile knows one moment alone; a timeline needs a trace (run --trace), a "
                "gauge file, or a file by massif or heaptrack");
  }
  HG_TRY(CheckCountsTime(profile));
  if (axis == TimeAxis::kEvents || axis == TimeAxis::kInstructions) {
    return Fail(ErrorCode::kUnsupported, std::string("only a trace knows its ") +
                                             TimeAxisName(axis) + "; use --unit time or bytes");
  }
  return TimelineOfPoints(profile.recording, PointsOf(profile), axis, from_ns, to_ns);
}

std::vector<TimelinePoint> PointsOf(const Profile& profile) {
  std::vector<TimelinePoint> points = profile.timeline;
  if (points.empty()) return points;
  if (const auto now = PointOfNow(profile)) points.push_back(*now);
  return points;
}

Result<Timeline> TimelineOfPoints(const RecordingFacts& recording,
                                  const std::vector<TimelinePoint>& points, TimeAxis axis,
                                  uint64_t from_ns, uint64_t to_ns) {
  const bool has_flow = points.back().allocated_bytes > 0;
  if (axis == TimeAxis::kBytes && !has_flow) {
    return Fail(ErrorCode::kUnsupported,
                "this profile does not know how much was allocated over time; use --unit time");
  }
  Timeline timeline;
  timeline.axis = axis;
  timeline.recording = recording;
  timeline.knows_flow = has_flow;
  const TimelinePoint* before = nullptr;
  const auto place = [axis](const TimelinePoint& p) {
    return axis == TimeAxis::kTime ? p.time_ns : p.allocated_bytes + p.freed_bytes;
  };
  // The first point stands for all that was before, unless older ones were forgotten.
  const bool from_start = from_ns == 0 && points.front().time_ns <= points.back().time_ns / 20;
  for (const TimelinePoint& point : points) {
    if (point.time_ns >= from_ns && point.time_ns <= to_ns) {
      const bool first = timeline.steps.empty();
      // Points come from a file: an axis never goes back.
      uint64_t begin = first ? place(point) : timeline.steps.back().end;
      if (first && from_start) begin = 0;
      TimelineStep step =
          StepTo(begin, std::max(place(point), begin), point.time_ns, point.live_bytes);
      step.live_blocks = point.live_objects;
      timeline.knows_blocks = timeline.knows_blocks || point.live_objects > 0;
      if (!first || from_start) {
        step.allocated_bytes = Growth(first ? 0 : before->allocated_bytes, point.allocated_bytes);
        step.freed_bytes = Growth(first ? 0 : before->freed_bytes, point.freed_bytes);
      }
      step.resident_bytes = point.resident_bytes;
      timeline.steps.push_back(step);
    }
    before = &point;
  }
  if (timeline.steps.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "nothing is known about that range of time");
  }
  timeline.from = timeline.steps.front().begin;
  timeline.from_ns = from_start ? 0 : timeline.steps.front().time_ns;
  timeline.to = timeline.steps.back().end;
  timeline.to_ns = timeline.steps.back().time_ns;
  if (recording.has_peak && axis == TimeAxis::kTime && recording.peak_ns >= timeline.from_ns &&
      recording.peak_ns <= timeline.to_ns) {
    timeline.peak = {recording.peak_ns, recording.peak_ns, recording.peak_bytes, std::nullopt};
    // It is drawn as well, though nobody looked at that moment.
    for (TimelineStep& step : timeline.steps) {
      if (step.end < recording.peak_ns) continue;
      step.most_bytes = std::max(step.most_bytes, recording.peak_bytes);
      break;
    }
  }
  Summarize(&timeline);
  return timeline;
}

Timeline InSteps(const Timeline& timeline, size_t count) {
  Timeline out = timeline;
  out.steps.assign(count, {});
  for (Timeline::Band& band : out.bands) band.most.assign(count, 0);
  for (Timeline::Lane& lane : out.lanes) {
    for (auto* values : {&lane.allocated_bytes, &lane.allocated_blocks, &lane.freed_bytes}) {
      values->assign(count, 0);
    }
  }
  if (count == 0 || timeline.steps.empty()) return out;
  const auto length = static_cast<double>(timeline.to - timeline.from);
  const auto n = static_cast<double>(count);
  const auto place = [&](uint64_t at) {  // in steps of the result
    return length > 0 ? static_cast<double>(at - std::min(at, timeline.from)) / length * n : n;
  };
  const auto before = [count](double x) {  // the step that ends at or behind x
    return x <= 0 ? size_t{0} : std::min(static_cast<size_t>(std::ceil(x)) - 1, count - 1);
  };
  size_t next = 0;  // no value has reached this one yet
  const TimelineStep* held = &timeline.steps.front();
  const auto hold = [&](size_t i) {
    TimelineStep& step = out.steps[i];
    step.live_bytes = step.most_bytes = step.least_bytes = held->live_bytes;
    step.live_blocks = held->live_blocks;
    NoteMemory(*held, &step);
  };
  for (size_t s = 0; s < timeline.steps.size(); ++s) {
    const TimelineStep& step = timeline.steps[s];
    const double begin = place(step.begin);
    const double end = place(step.end);
    const size_t at = before(end);
    for (; next < at; ++next) hold(next);
    TimelineStep& into = out.steps[at];
    if (next == at) {
      into.most_bytes = step.most_bytes;
      into.least_bytes = step.least_bytes;
      ++next;
    }
    into.most_bytes = std::max(into.most_bytes, step.most_bytes);
    into.least_bytes = std::min(into.least_bytes, step.least_bytes);
    into.live_bytes = step.live_bytes;
    into.live_blocks = step.live_blocks;
    NoteMemory(step, &into);
    for (size_t b = 0; b < out.bands.size(); ++b) {
      uint64_t& most = out.bands[b].most[at];
      most = std::max(most, timeline.bands[b].most[s]);
    }
    for (size_t l = 0; l < out.lanes.size(); ++l) {
      const Timeline::Lane& lane = timeline.lanes[l];
      out.lanes[l].allocated_bytes[at] += lane.allocated_bytes[s];
      out.lanes[l].allocated_blocks[at] += lane.allocated_blocks[s];
      out.lanes[l].freed_bytes[at] += lane.freed_bytes[s];
    }
    for (size_t i = before(begin + 1e-9); i <= at; ++i) {
      const double from = std::max(begin, static_cast<double>(i));
      const double to = std::min(end, static_cast<double>(i + 1));
      AddFlow(step, end > begin ? std::max(0.0, to - from) / (end - begin) : 1, &out.steps[i]);
    }
    held = &step;
  }
  for (; next < count; ++next) hold(next);
  const uint64_t span = timeline.to - timeline.from;
  for (size_t i = 0; i < count; ++i) {
    const auto part = [&](size_t k) {
      return timeline.from +
             static_cast<uint64_t>(static_cast<double>(span) * static_cast<double>(k) / n);
    };
    out.steps[i].begin = part(i);
    out.steps[i].end = i + 1 == count ? timeline.to : part(i + 1);
    if (timeline.axis == TimeAxis::kTime) out.steps[i].time_ns = out.steps[i].end;
  }
  return out;
}

}  // namespace heapgauge
