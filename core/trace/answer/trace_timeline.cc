#include "core/trace/answer/trace_timeline.h"

#include <algorithm>
#include <utility>

#include "core/fold/timeline.h"
#include "core/trace/answer/live_stacks.h"
#include "core/trace/answer/thread_lanes.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {
namespace {

// What events of the heap did, added up.
struct Flow {
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;

  uint64_t bytes() const { return allocated_bytes + freed_bytes; }
};

Flow FlowOfSums(const std::vector<StackSums>& sums) {
  Flow flow;
  for (const StackSums& s : sums) {
    if (s.is_mapping) continue;
    flow.allocated_bytes += s.allocated_bytes;
    flow.allocated_blocks += s.allocated_blocks;
    flow.freed_bytes += s.freed_bytes;
    flow.freed_blocks += s.freed_blocks;
  }
  return flow;
}

void Add(const Flow& flow, TimelineStep* step) {
  step->allocated_bytes += flow.allocated_bytes;
  step->allocated_blocks += flow.allocated_blocks;
  step->freed_bytes += flow.freed_bytes;
  step->freed_blocks += flow.freed_blocks;
}

uint64_t Minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

constexpr uint32_t kParts = kOldBlocks | kNewBlocks | kEvents;

class Reader {
 public:
  Reader(const TraceFile& trace, const TimelineRequest& request, ProgressSink* progress)
      : trace_(trace), request_(request), progress_(progress) {
    to_ns_ = std::min(request.range.to.time_ns, trace.end_ns());
    from_ns_ = std::min(request.range.from.time_ns, to_ns_);
  }

  Result<TraceTimeline> Read() {
    HG_TRY(FindPositions());
    HG_TRY(FindExtent());
    TimelineSteps steps(from_, to_, request_.steps);
    HG_TRY(FillSteps(&steps));
    Timeline& timeline = result_.timeline;
    timeline.axis = request_.axis;
    timeline.from = from_;
    timeline.to = to_;
    timeline.from_ns = from_ns_;
    timeline.to_ns = to_ns_;
    timeline.recording = trace_.facts().recording;
    timeline.exact = timeline.knows_flow = timeline.knows_blocks = true;
    timeline.notes = trace_.notes();
    timeline.steps = steps.Take();
    HG_TRY(DescribePeak());
    if (request_.axis == TimeAxis::kTime) {
      for (TimelineStep& step : timeline.steps) step.time_ns = step.end;
    }
    AddMemory();
    AddMarkers();
    Summarize(&timeline);
    if (request_.bands > 0) HG_TRY(AddBands());
    if (request_.lanes > 0) {
      HG_TRY(AddThreadLanes(trace_, request_.range, request_.lanes, &timeline, progress_,
                            request_.counts));
    }
    return std::move(result_);
  }

 private:
  bool Counts(const Block& block) const {
    return request_.counts ? request_.counts(block) : !block.is_mapping;
  }

  Flow FlowOf(const Segment& segment, const Event& event) const {
    Flow flow;
    if (event.born != kNoIndex && Counts(segment.blocks[event.born])) {
      flow.allocated_bytes = segment.blocks[event.born].size;
      flow.allocated_blocks = 1;
    }
    if (event.died != kNoIndex && Counts(segment.blocks[event.died])) {
      flow.freed_bytes = segment.blocks[event.died].size;
      flow.freed_blocks = 1;
    }
    return flow;
  }

  Status FindPositions() {
    EdgeSegments edges(trace_, nullptr);
    PrepareEdges(trace_, request_.range, &edges);
    HG_ASSIGN(begin_, PositionAt(trace_, request_.range.from, &edges));
    HG_ASSIGN(end_, PositionAt(trace_, request_.range.to, &edges));
    return {};
  }

  enum class Where { kBefore, kInside, kPartly, kBehind };
  Where PlaceOf(size_t segment) const {
    const Position begin{segment, 0};
    const Position end{segment + 1, 0};
    if (end <= begin_) return Where::kBefore;
    if (begin >= end_) return Where::kBehind;
    return begin >= begin_ && end <= end_ ? Where::kInside : Where::kPartly;
  }

  void Report(size_t segment) {
    if (progress_ == nullptr) return;
    progress_->Report("reading the trace", segment, trace_.segments().size(), "segments");
  }

  // Where the range begins and ends on the axis.
  Status FindExtent() {
    from_ = from_ns_;
    to_ = to_ns_;
    if (request_.axis == TimeAxis::kTime) return {};
    const bool counts_bytes = request_.axis == TimeAxis::kBytes;
    uint64_t before = 0;
    uint64_t within = 0;
    for (size_t i = 0; i < trace_.segments().size(); ++i) {
      const SegmentInfo& info = trace_.segments()[i];
      const Where where = PlaceOf(i);
      if (where == Where::kBehind) break;
      if (where != Where::kPartly) {
        if (counts_bytes) HG_TRY(trace_.ReadSums(i, &sums_));
        (where == Where::kBefore ? before : within) +=
            counts_bytes ? FlowOfSums(sums_).bytes() : info.events;
        continue;
      }
      HG_TRY(trace_.ReadSegment(i, kParts, &segment_));
      for (uint32_t e = 0; e < segment_.events.size() && Position{i, e} < end_; ++e) {
        (Position{i, e} < begin_ ? before : within) +=
            counts_bytes ? FlowOf(segment_, segment_.events[e]).bytes() : 1;
      }
    }
    from_ = before;
    to_ = before + within;
    return {};
  }

  Status FillSteps(TimelineSteps* steps) {
    uint64_t at = from_;  // on the axis, unless that is time
    bool begun = false;
    for (size_t i = 0; i < trace_.segments().size(); ++i) {
      const SegmentInfo& info = trace_.segments()[i];
      const Where where = PlaceOf(i);
      if (request_.counts && where != Where::kBehind) {
        Report(i);
        HG_TRY(TakeEvents(i, &begun, &at, steps));
        continue;
      }
      if (where == Where::kBefore) {
        last_ = {i, info.events};
        last_bytes_ = info.live_bytes_after;
        last_blocks_ = info.live_blocks_after;
        continue;
      }
      if (where == Where::kBehind) break;
      Report(i);
      if (!begun && where == Where::kInside) {
        Begin({i, 0}, info.live_bytes_before, info.live_blocks_before, steps);
        begun = true;
      }
      if (where == Where::kInside) {
        HG_ASSIGN(const bool taken, TakeWhole(i, &at, steps));
        if (taken) continue;
      }
      HG_TRY(TakeEvents(i, &begun, &at, steps));
    }
    if (!begun) Begin(last_, last_bytes_, last_blocks_, steps);
    return {};
  }

  // What is live when the range begins may be the most in it.
  void Begin(Position at, uint64_t bytes, uint64_t blocks, TimelineSteps* steps) {
    steps->Begin(bytes, blocks, from_ns_);
    result_.timeline.peak = {from_, from_ns_, bytes, blocks};
    peak_at_ = at;
    peak_is_described_ = true;
  }

  // A segment that is in one step needs no events. False if it is not.
  Result<bool> TakeWhole(size_t i, uint64_t* at, TimelineSteps* steps) {
    const SegmentInfo& info = trace_.segments()[i];
    uint64_t begin = *at + 1;
    uint64_t end = *at + info.events;
    bool has_sums = false;
    if (request_.axis == TimeAxis::kTime) {
      begin = info.begin_ns;
      end = info.end_ns;
    } else if (request_.axis == TimeAxis::kBytes) {
      HG_TRY(trace_.ReadSums(i, &sums_));
      has_sums = true;
      end = *at + FlowOfSums(sums_).bytes();
    }
    steps->GoTo(begin);
    if (!steps->Holds(end)) return false;
    if (!has_sums) HG_TRY(trace_.ReadSums(i, &sums_));
    Add(FlowOfSums(sums_), &steps->step());
    if (info.peak_bytes > result_.timeline.peak.bytes) {
      result_.timeline.peak = {0, info.peak_ns, info.peak_bytes, std::nullopt};
      peak_at_ = {i, info.peak_event + 1};
      peak_is_described_ = false;
      peak_begin_ = *at;
    }
    TimelineStep& step = steps->step();
    step.most_bytes = std::max(step.most_bytes, info.peak_bytes);
    steps->Live(info.live_bytes_after, info.live_blocks_after, info.end_ns);
    if (request_.axis != TimeAxis::kTime) *at = end;
    return true;
  }

  Status TakeEvents(size_t i, bool* begun, uint64_t* at, TimelineSteps* steps) {
    HG_TRY(trace_.ReadSegment(i, kParts, &segment_));
    uint64_t bytes = request_.counts ? last_bytes_ : segment_.info.live_bytes_before;
    uint64_t blocks = request_.counts ? last_blocks_ : segment_.info.live_blocks_before;
    Timeline::Moment& peak = result_.timeline.peak;
    uint32_t e = 0;
    for (; e < segment_.events.size() && Position{i, e} < end_; ++e) {
      const Event& event = segment_.events[e];
      const Flow flow = FlowOf(segment_, event);
      const bool is_inside = Position{i, e} >= begin_;
      if (is_inside && !*begun) {
        Begin({i, e}, bytes, blocks, steps);
        *begun = true;
      }
      bytes = Minus(bytes + flow.allocated_bytes, flow.freed_bytes);
      blocks = Minus(blocks + flow.allocated_blocks, flow.freed_blocks);
      if (!is_inside) continue;
      uint64_t place = event.time_ns;
      if (request_.axis != TimeAxis::kTime) {
        *at += request_.axis == TimeAxis::kBytes ? flow.bytes() : 1;
        place = *at;
      }
      steps->GoTo(place);
      Add(flow, &steps->step());
      steps->Live(bytes, blocks, event.time_ns);
      if (bytes > peak.bytes) {
        peak = {place, event.time_ns, bytes, blocks};
        peak_at_ = {i, e + 1};
        peak_is_described_ = true;
      }
    }
    last_ = {i, e};
    last_bytes_ = bytes;
    last_blocks_ = blocks;
    return {};
  }

  // The index does not tell how many blocks there were at the peak, nor its place on each axis.
  Status DescribePeak() {
    if (peak_is_described_) return {};
    Timeline::Moment& peak = result_.timeline.peak;
    HG_TRY(trace_.ReadSegment(peak_at_.segment, kParts, &segment_));
    uint64_t at = peak_begin_;
    uint64_t blocks = segment_.info.live_blocks_before;
    for (uint32_t e = 0; e < peak_at_.event && e < segment_.events.size(); ++e) {
      const Flow flow = FlowOf(segment_, segment_.events[e]);
      blocks = Minus(blocks + flow.allocated_blocks, flow.freed_blocks);
      at += request_.axis == TimeAxis::kBytes ? flow.bytes() : 1;
    }
    peak.blocks = blocks;
    peak.at = request_.axis == TimeAxis::kTime ? peak.time_ns : at;
    return {};
  }

  // The step in which that time is.
  size_t StepAt(uint64_t time_ns) const {
    const std::vector<TimelineStep>& steps = result_.timeline.steps;
    const auto it =
        std::lower_bound(steps.begin(), steps.end(), time_ns,
                         [](const TimelineStep& step, uint64_t t) { return step.time_ns < t; });
    return it == steps.end() ? steps.size() - 1 : static_cast<size_t>(it - steps.begin());
  }

  // The last sample counts until there is another.
  void AddMemory() {
    struct Field {
      uint64_t MemoryPoint::*from;
      uint64_t TimelineStep::*to;
    };
    constexpr Field kFields[] = {
        {&MemoryPoint::resident_bytes, &TimelineStep::resident_bytes},
        {&MemoryPoint::proportional_bytes, &TimelineStep::proportional_bytes},
        {&MemoryPoint::swapped_bytes, &TimelineStep::swapped_bytes},
        {&MemoryPoint::cgroup_bytes, &TimelineStep::cgroup_bytes},
        {&MemoryPoint::cgroup_limit, &TimelineStep::cgroup_limit},
    };
    std::vector<TimelineStep>& steps = result_.timeline.steps;
    for (const MemoryPoint& point : trace_.memory()) {
      if (point.time_ns > to_ns_) continue;
      const bool is_before = point.time_ns < from_ns_;
      TimelineStep& step = steps[is_before ? 0 : StepAt(point.time_ns)];
      for (const Field& field : kFields) {
        const uint64_t value = point.*field.from;
        if (value != 0) step.*field.to = is_before ? value : std::max(step.*field.to, value);
      }
    }
    for (size_t i = 1; i < steps.size(); ++i) {
      for (const Field& field : kFields) {
        if (steps[i].*field.to == 0) steps[i].*field.to = steps[i - 1].*field.to;
      }
    }
  }

  void AddMarkers() {
    for (const Marker& marker : trace_.markers()) {
      if (marker.time_ns < from_ns_ || marker.time_ns > to_ns_) continue;
      const uint64_t at = request_.axis == TimeAxis::kTime
                              ? marker.time_ns
                              : result_.timeline.steps[StepAt(marker.time_ns)].end;
      result_.timeline.markers.push_back({at, marker.time_ns, marker.text});
    }
  }

  Status AddBands() {
    LiveStacks live(trace_, request_.counts);
    HG_TRY(live.GoTo(peak_at_));
    result_.stacks = live.Largest(request_.bands);
    std::vector<uint32_t> band_of(live.bytes().size(), kNoIndex);
    for (const uint32_t stack : result_.stacks) {
      band_of[stack] = static_cast<uint32_t>(result_.timeline.bands.size());
      Timeline::Band band;
      band.peak_bytes = live.bytes()[stack];
      band.most.assign(result_.timeline.steps.size(), 0);
      result_.timeline.bands.push_back(std::move(band));
    }
    BandWalk walk(*this, std::move(band_of), &result_.timeline);
    uint64_t at = from_;
    for (size_t i = 0; i < trace_.segments().size(); ++i) {
      const SegmentInfo& info = trace_.segments()[i];
      const Where where = PlaceOf(i);
      if (where == Where::kBehind) break;
      Report(i);
      if (where != Where::kPartly && !request_.counts) {
        HG_TRY(trace_.ReadSums(i, &sums_));
        const bool is_time = request_.axis == TimeAxis::kTime;
        const uint64_t end = is_time                             ? info.end_ns
                             : request_.axis == TimeAxis::kBytes ? at + FlowOfSums(sums_).bytes()
                                                                 : at + info.events;
        if (where == Where::kBefore) {
          walk.AddSums(sums_, false);
          continue;
        }
        walk.GoTo(is_time ? info.begin_ns : at + 1);
        if (walk.Holds(end)) {
          walk.AddSums(sums_, true);
          at = end;
          continue;
        }
      }
      HG_TRY(trace_.ReadSegment(i, kParts, &segment_));
      for (uint32_t e = 0; e < segment_.events.size() && Position{i, e} < end_; ++e) {
        const Event& event = segment_.events[e];
        const bool is_inside = Position{i, e} >= begin_;
        if (is_inside) {
          at = request_.axis == TimeAxis::kTime    ? event.time_ns
               : request_.axis == TimeAxis::kBytes ? at + FlowOf(segment_, event).bytes()
                                                   : at + 1;
          walk.GoTo(at);
        }
        walk.AddEvent(segment_, event, is_inside);
      }
    }
    walk.Finish();
    // Sums of a whole segment do not tell about the moment within.
    for (size_t i = 0; i < result_.timeline.steps.size(); ++i) {
      if (result_.timeline.peak.at > result_.timeline.steps[i].end) continue;
      for (Timeline::Band& band : result_.timeline.bands) {
        band.most[i] = std::max(band.most[i], band.peak_bytes);
      }
      break;
    }
    return {};
  }

  // The live bytes of the stacks that are followed.
  class BandWalk {
   public:
    BandWalk(const Reader& reader, std::vector<uint32_t> band_of, Timeline* timeline)
        : reader_(reader),
          band_of_(std::move(band_of)),
          timeline_(timeline),
          live_(timeline->bands.size()) {}

    void GoTo(uint64_t at) {
      Open();
      while (step_ + 1 < timeline_->steps.size() && at > timeline_->steps[step_].end) {
        ++step_;
        Note();
      }
    }
    bool Holds(uint64_t at) const {
      return step_ + 1 == timeline_->steps.size() || at <= timeline_->steps[step_].end;
    }
    void AddSums(const std::vector<StackSums>& sums, bool is_inside) {
      for (const StackSums& s : sums) {
        const uint32_t band = s.is_mapping ? kNoIndex : BandOf(s.stack);
        if (band == kNoIndex) continue;
        live_[band] = Minus(live_[band] + s.allocated_bytes, s.freed_bytes);
        if (is_inside) NoteBand(band);
      }
    }
    void AddEvent(const Segment& segment, const Event& event, bool is_inside) {
      uint32_t died = kNoIndex;
      if (event.died != kNoIndex && reader_.Counts(segment.blocks[event.died])) {
        died = BandOf(segment.blocks[event.died].stack);
        if (died != kNoIndex) {
          live_[died] = Minus(live_[died], segment.blocks[event.died].size);
        }
      }
      if (event.born != kNoIndex && reader_.Counts(segment.blocks[event.born])) {
        const uint32_t born = BandOf(segment.blocks[event.born].stack);
        if (born == kNoIndex) return;
        live_[born] += segment.blocks[event.born].size;
        if (is_inside) NoteBand(born);
      }
    }
    void Finish() { GoTo(UINT64_MAX); }

   private:
    uint32_t BandOf(uint32_t stack) const {
      return stack < band_of_.size() ? band_of_[stack] : kNoIndex;
    }
    void NoteBand(uint32_t band) {
      uint64_t& most = timeline_->bands[band].most[step_];
      most = std::max(most, live_[band]);
    }
    void Note() {
      for (uint32_t band = 0; band < live_.size(); ++band) NoteBand(band);
    }
    void Open() {
      if (!std::exchange(open_, true)) Note();
    }

    const Reader& reader_;
    std::vector<uint32_t> band_of_;
    Timeline* timeline_;
    std::vector<uint64_t> live_;
    size_t step_ = 0;
    bool open_ = false;
  };

  const TraceFile& trace_;
  TimelineRequest request_;
  ProgressSink* progress_;
  uint64_t from_ns_ = 0;
  uint64_t to_ns_ = 0;
  Position begin_;
  Position end_;
  uint64_t from_ = 0;  // on the axis
  uint64_t to_ = 0;
  TraceTimeline result_;
  Segment segment_;
  std::vector<StackSums> sums_;
  Position peak_at_;
  bool peak_is_described_ = true;
  uint64_t peak_begin_ = 0;  // where its segment begins on the axis
  Position last_;            // as far as the trace was read, and what is live there
  uint64_t last_bytes_ = 0;
  uint64_t last_blocks_ = 0;
};

}  // namespace

Result<TraceTimeline> ReadTraceTimeline(const TraceFile& trace, const TimelineRequest& request,
                                        ProgressSink* progress) {
  return Reader(trace, request, progress).Read();
}

}  // namespace heapgauge::trace
