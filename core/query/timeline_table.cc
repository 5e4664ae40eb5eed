// timeline: the whole heap in steps of time.
//
// Of a trace any step can be asked for; segments outside of a range of times are not read, because
// the index tells what was live where they begin.

#include <fmt/format.h>

#include <algorithm>

#include "core/fold/timeline.h"
#include "core/query/schema.h"
#include "core/query/sql_values.h"

namespace heapgauge::query {
namespace {

enum Id : int {
  kTime,
  kLiveBytes,
  kLiveBlocks,
  kPeakBytes,
  kAllocatedBytes,
  kAllocatedBlocks,
  kFreedBytes,
  kFreedBlocks,
  kResident,
  kAt,
  kUnit,
  kStep,
};

constexpr uint64_t kUnknown = UINT64_MAX;
constexpr uint64_t kSteps = 100;  // unless a step is asked for
constexpr uint64_t kMostSteps = 1 << 22;

std::vector<Column> Columns() {
  return {
      {"time_ns", "INTEGER",
       "end of the step; the figures are those of this moment; NULL where massif did not count "
       "time"},
      {"live_bytes", "INTEGER", "of the heap"},
      {"live_blocks", "INTEGER", "of the heap; massif does not know it, nor the flow below"},
      {"peak_bytes", "INTEGER", "the most that was live at any moment of the step (traces)"},
      {"allocated_bytes", "INTEGER", "since the recording began"},
      {"allocated_blocks", "INTEGER", "since the recording began"},
      {"freed_bytes", "INTEGER", "since the recording began"},
      {"freed_blocks", "INTEGER", "since the recording began"},
      {"resident_bytes", "INTEGER", "RSS, as last seen before"},
      {"at", "INTEGER", "end of the step in what the source counts, to order by"},
      {"unit", "TEXT",
       "what that is: time (nanoseconds), bytes allocated and freed so far, or "
       "instructions"},
      {"step_ns", "INTEGER",
       "the step asked for, as in timeline(seconds('10ms')); a hundredth of the whole if none is",
       true},
  };
}

struct Point {
  uint64_t time_ns = 0;
  uint64_t at = kUnknown;  // unless it is the time
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  uint64_t peak_bytes = kUnknown;
  uint64_t allocated_bytes = kUnknown;
  uint64_t allocated_blocks = kUnknown;
  uint64_t freed_bytes = kUnknown;
  uint64_t freed_blocks = kUnknown;
  uint64_t resident_bytes = kUnknown;
};

// Goes through the events of a trace and leaves a point at each step within a range.
class StepMaker {
 public:
  StepMaker(QuerySource* source, uint64_t step, Range range, bool so_far)
      : source_(source), step_(step), range_(range), so_far_(so_far) {}

  Result<std::vector<Point>> Make() {
    const trace::TraceFile& trace = *source_->trace();
    const std::vector<trace::SegmentInfo>& segments = trace.segments();
    end_ = trace.end_ns();
    if (range_.low > end_) return std::move(points_);
    // Times are whole steps, and the very end. None is later than trace::kLatestNs, no step longer.
    next_ = (range_.low + step_ - 1) / step_ * step_;
    uint64_t from = next_ >= step_ ? next_ - step_ : 0;  // begin of the first step
    if (next_ > end_ && range_.contains(end_)) {
      next_ = end_;
      from = (end_ - 1) / step_ * step_;
    }
    last_ = std::min(end_, range_.high);
    now_.allocated_bytes = now_.allocated_blocks = now_.freed_bytes = now_.freed_blocks = 0;
    std::vector<trace::StackSums> sums;
    for (size_t i = 0; i < segments.size(); ++i) {
      HG_TRY(source_->CheckStop());
      source_->Report("following the heap", i, segments.size(), "segments");
      const trace::SegmentInfo& s = segments[i];
      if (next_ > last_) break;
      if (s.end_ns < from) {  // what it did is known without its events
        if (so_far_) {
          HG_TRY(trace.ReadSums(i, &sums));
          for (const trace::StackSums& one : sums) {
            if (one.is_mapping) continue;
            now_.allocated_bytes += one.allocated_bytes;
            now_.allocated_blocks += one.allocated_blocks;
            now_.freed_bytes += one.freed_bytes;
            now_.freed_blocks += one.freed_blocks;
          }
        }
        now_.live_bytes = s.live_bytes_after;
        now_.live_blocks = s.live_blocks_after;
        peak_ = now_.live_bytes;
        continue;
      }
      HG_ASSIGN(const auto segment, source_->segments()->Read(
                                        i, trace::kOldBlocks | trace::kNewBlocks | trace::kEvents));
      for (const trace::Event& event : segment->events) {
        while (event.time_ns > next_ && next_ <= last_) Leave();
        if (next_ > last_) break;
        Fold(*segment, event);
        if (event.time_ns <= from) peak_ = now_.live_bytes;
      }
    }
    while (next_ <= last_) Leave();
    return std::move(points_);
  }

 private:
  void Fold(const trace::Segment& segment, const trace::Event& event) {
    if (event.died < segment.blocks.size() && !segment.blocks[event.died].is_mapping) {
      const uint64_t size = segment.blocks[event.died].size;
      now_.live_bytes -= std::min(now_.live_bytes, size);
      now_.live_blocks -= now_.live_blocks != 0 ? 1 : 0;
      now_.freed_bytes += size;
      ++now_.freed_blocks;
    }
    if (event.born < segment.blocks.size() && !segment.blocks[event.born].is_mapping) {
      const uint64_t size = segment.blocks[event.born].size;
      now_.live_bytes += size;
      ++now_.live_blocks;
      now_.allocated_bytes += size;
      ++now_.allocated_blocks;
    }
    peak_ = std::max(peak_, now_.live_bytes);
  }

  void Leave() {
    now_.time_ns = next_;
    now_.peak_bytes = std::max(peak_, now_.live_bytes);
    points_.push_back(now_);
    peak_ = now_.live_bytes;
    const uint64_t following = next_ + step_;
    next_ = next_ < end_ && following > end_ ? end_ : following;
  }

  QuerySource* source_;
  const uint64_t step_;
  const Range range_;
  const bool so_far_;  // sums since the beginning are asked for
  Point now_;
  uint64_t peak_ = 0;  // since the last point
  uint64_t next_ = 0;
  uint64_t last_ = 0;
  uint64_t end_ = 0;  // of the trace
  std::vector<Point> points_;
};

void AddResident(const std::vector<trace::MemoryPoint>& memory, std::vector<Point>* points) {
  size_t i = 0;
  uint64_t resident = kUnknown;
  for (Point& point : *points) {
    while (i < memory.size() && memory[i].time_ns <= point.time_ns) {
      if (memory[i].resident_bytes != 0) resident = memory[i].resident_bytes;
      ++i;
    }
    point.resident_bytes = resident;
  }
}

std::vector<Point> NotedPoints(const Profile& profile) {
  std::vector<Point> points;
  for (const TimelinePoint& from : profile.timeline) {
    Point& point = points.emplace_back();
    point.time_ns = from.time_ns;
    if (profile.timeline_axis != TimeAxis::kTime) {
      point.time_ns = kUnknown;
      point.at = from.at;
    }
    point.live_bytes = from.live_bytes;
    const bool live_only = profile.timeline_live_only;
    point.live_blocks = live_only ? kUnknown : from.live_objects;
    point.allocated_bytes = live_only ? kUnknown : from.allocated_bytes;
    point.freed_bytes = live_only ? kUnknown : from.freed_bytes;
    if (from.resident_bytes != 0) point.resident_bytes = from.resident_bytes;
  }
  return points;
}

class TimelineCursor final : public Cursor {
 public:
  explicit TimelineCursor(QuerySource* source) : source_(source) {}

  Status Start(const Scan& scan, std::span<sqlite3_value*> values) override {
    at_ = 0;
    points_.clear();
    Range times;
    uint64_t step = 0;
    step_ = 0;
    asked_.Forget();
    for (size_t i = 0; i < values.size(); ++i) {
      if (scan.terms[i].column == kTime) {
        times.Restrict(scan.terms[i].op, values[i]);
        continue;
      }
      if (source_->trace() == nullptr) {
        return Fail(ErrorCode::kUnsupported,
                    "a profile has the timeline that it came with; only traces can be asked for "
                    "other steps");
      }
      asked_.Keep(values[i]);
      HG_ASSIGN(const std::optional<uint64_t> asked, MomentOf(values[i], *source_));
      step = std::min(asked.value_or(0), trace::kLatestNs);
      if (step == 0) {
        return Fail(ErrorCode::kInvalidArgument,
                    "timeline(STEP): a step is a time such as seconds('10ms')");
      }
    }
    if (times.empty()) return {};
    if (source_->trace() == nullptr) {
      HG_ASSIGN(const Profile* profile, source_->StacksOnly());
      points_ = NotedPoints(*profile);
      axis_ = profile->timeline_axis;
      return {};
    }
    const uint64_t end = source_->end_ns();
    if (step == 0) step = std::max<uint64_t>(end / kSteps, 1);
    const uint64_t covered =
        std::min(end, times.high) - std::min(std::min(end, times.high), times.low);
    if (covered / step > kMostSteps) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("timeline(STEP): that would be {} rows; take a larger step or a "
                              "range of time_ns",
                              covered / step));
    }
    const bool so_far = scan.uses(kAllocatedBytes) || scan.uses(kAllocatedBlocks) ||
                        scan.uses(kFreedBytes) || scan.uses(kFreedBlocks);
    step_ = step;
    HG_ASSIGN(points_, StepMaker(source_, step, times, so_far).Make());
    AddResident(source_->trace()->memory(), &points_);
    return {};
  }

  Status Next() override {
    ++at_;
    return {};
  }
  bool at_end() const override { return at_ >= points_.size(); }
  int64_t row_id() const override {
    // The last step may be a shorter one.
    const uint64_t row = step_ == 0 ? at_ : (points_[at_].time_ns + step_ - 1) / step_;
    return RowIdOf(step_, row);
  }

  void Get(int column, sqlite3_context* out) override {
    if (column == kStep) {
      if (!asked_.Put(out) && step_ != 0) query::Put(out, step_);
      return;
    }
    if (column == kUnit) {
      PutLasting(out, TimeAxisName(axis_));
      return;
    }
    const Point& point = points_[at_];
    const uint64_t at = axis_ == TimeAxis::kTime ? point.time_ns : point.at;
    const uint64_t values[] = {point.time_ns,         point.live_bytes,
                               point.live_blocks,     point.peak_bytes,
                               point.allocated_bytes, point.allocated_blocks,
                               point.freed_bytes,     point.freed_blocks,
                               point.resident_bytes,  at};
    if (values[column] != kUnknown) Put(out, values[column]);
  }

 private:
  QuerySource* source_;
  std::vector<Point> points_;
  TimeAxis axis_ = TimeAxis::kTime;
  uint64_t step_ = 0;  // between them; 0: they are as they came
  AskedValue asked_;
  size_t at_ = 0;
};

class TimelineTable final : public Table {
 public:
  explicit TimelineTable(QuerySource* source)
      : Table(source, "timeline", "the whole heap in steps of time", Columns()) {}

  bool Accepts(const Term& term) const override {
    if (term.column == kStep) return term.op == SQLITE_INDEX_CONSTRAINT_EQ;
    return term.column == kTime && IsComparison(term.op);
  }
  bool Exact(const Term& term) const override { return term.column == kStep; }
  Price PriceOf(const Scan& scan) const override {
    const trace::TraceFile* trace = source()->trace();
    const double events = trace != nullptr ? static_cast<double>(trace->events()) : 100;
    const bool range = std::any_of(scan.terms.begin(), scan.terms.end(),
                                   [](const Term& t) { return t.column == kTime; });
    return {scan.misses(kStep) ? Price::kLast : events / (range ? 4 : 1) + 100, 100};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<TimelineCursor>(source()); }
};

}  // namespace

std::shared_ptr<Table> MakeTimelineTable(QuerySource* source) {
  return std::make_shared<TimelineTable>(source);
}

}  // namespace heapgauge::query
