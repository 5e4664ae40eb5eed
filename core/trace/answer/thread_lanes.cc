#include "core/trace/answer/thread_lanes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/trace/answer/fold_segments.h"
#include "core/trace/answer/trace_position.h"

namespace heapgauge::trace {
namespace {

// Figures of one step.
struct LaneCell {
  uint64_t allocated_bytes = 0;
  uint64_t allocated_blocks = 0;
  uint64_t freed_bytes = 0;
  uint64_t freed_blocks = 0;

  void Add(const LaneCell& other) {
    allocated_bytes += other.allocated_bytes;
    allocated_blocks += other.allocated_blocks;
    freed_bytes += other.freed_bytes;
    freed_blocks += other.freed_blocks;
  }
};

// Rows of all threads at once have up to this many cells.
constexpr size_t kMostLaneCells = 1 << 19;

class LaneReader {
 public:
  LaneReader(const TraceFile& trace, const ExactMoment& from, const ExactMoment& to,
             const Timeline& timeline, const BlockChoice& counts, ProgressSink* progress)
      : trace_(trace),
        from_(from),
        to_(to),
        timeline_(timeline),
        counts_(counts),
        progress_(progress),
        threads_(trace.threads().size()) {}

  // `row_of` names the row of each thread, and of what no thread is known of behind these. Each row
  // has `steps` cells, or one for the whole time.
  Result<std::vector<LaneCell>> Fill(const std::vector<uint32_t>& row_of, size_t rows,
                                     bool in_steps) {
    const size_t width = in_steps ? timeline_.steps.size() : 1;
    std::vector<std::vector<LaneCell>> cells(
        std::max<size_t>(1, FoldWorkers(rows * width * sizeof(LaneCell))));
    for (auto& each : cells) each.resize(rows * width);
    const auto cell_of = [&](size_t worker, uint32_t thread, uint64_t time) -> LaneCell& {
      const size_t row = row_of[std::min<size_t>(thread, threads_)];
      return cells[worker][row * width + (in_steps ? StepOf(time) : 0)];
    };
    FoldOptions options;
    options.workers = cells.size();
    options.progress = progress_;
    HG_TRY(FoldSegments(
        trace_, options,
        [&](size_t index) -> uint32_t {
          const SegmentInfo& info = trace_.segments()[index];
          const bool may_be = info.end_ns >= from_.time_ns && info.begin_ns <= to_.time_ns;
          return may_be ? kOldBlocks | kNewBlocks : 0;
        },
        [&](size_t worker, const Segment& segment, size_t) {
          for (size_t i = 0; i < segment.blocks.size(); ++i) {
            const Block& block = segment.blocks[i];
            if (counts_ ? !counts_(block) : block.is_mapping) continue;
            if (i >= segment.info.old_deaths && IsBornInside(block)) {
              LaneCell& cell = cell_of(worker, block.thread, block.birth_ns);
              cell.allocated_bytes += block.size;
              ++cell.allocated_blocks;
            }
            if (!block.is_live() && DiesInside(block)) {
              LaneCell& cell = cell_of(worker, block.death_thread, block.death_ns);
              cell.freed_bytes += block.size;
              ++cell.freed_blocks;
            }
          }
        }));
    for (size_t i = 1; i < cells.size(); ++i) {
      for (size_t k = 0; k < cells[0].size(); ++k) cells[0][k].Add(cells[i][k]);
    }
    return std::move(cells[0]);
  }

 private:
  bool IsBornInside(const Block& block) const {
    return !from_.HasBegun(block) && to_.HasBegun(block);
  }
  bool DiesInside(const Block& block) const {
    return !from_.HasEnded(block) && to_.HasEnded(block);
  }

  // The step whose end is at or behind the time. Steps are of equal length, but for rounding.
  size_t StepOf(uint64_t time) const {
    const std::vector<TimelineStep>& steps = timeline_.steps;
    const auto length = static_cast<double>(timeline_.to_ns - timeline_.from_ns);
    const double part = static_cast<double>(time - timeline_.from_ns) / std::max(length, 1.0);
    size_t step =
        std::min(static_cast<size_t>(part * static_cast<double>(steps.size())), steps.size() - 1);
    while (step > 0 && time <= steps[step - 1].end) --step;
    while (step + 1 < steps.size() && time > steps[step].end) ++step;
    return step;
  }

  const TraceFile& trace_;
  const ExactMoment& from_;
  const ExactMoment& to_;
  const Timeline& timeline_;
  const BlockChoice& counts_;
  ProgressSink* progress_;
  const size_t threads_;
};

// Adds row `row` of `cells` to the lane.
void AddLaneRow(const std::vector<LaneCell>& cells, size_t row, Timeline::Lane* lane) {
  const size_t steps = lane->allocated_bytes.size();
  for (size_t i = 0; i < steps; ++i) {
    const LaneCell& cell = cells[row * steps + i];
    lane->allocated_bytes[i] += cell.allocated_bytes;
    lane->allocated_blocks[i] += cell.allocated_blocks;
    lane->freed_bytes[i] += cell.freed_bytes;
  }
}

}  // namespace

Status AddThreadLanes(const TraceFile& trace, const TraceRange& range, size_t most,
                      Timeline* timeline, ProgressSink* progress, const BlockChoice& counts,
                      size_t rows_at_once) {
  const std::vector<Thread>& threads = trace.threads();
  const size_t steps = timeline->steps.size();
  if (steps == 0) return {};
  if (rows_at_once == 0) rows_at_once = kMostLaneCells / steps;
  const size_t all = threads.size() + 1;  // the last: unknown
  std::vector<uint32_t> row_of(all);
  std::iota(row_of.begin(), row_of.end(), 0u);
  HG_ASSIGN(const ExactMoment from, ExactMoment::Find(trace, range.from));
  HG_ASSIGN(const ExactMoment to, ExactMoment::Find(trace, range.to));
  LaneReader reader(trace, from, to, *timeline, counts, progress);
  const bool at_once = all <= rows_at_once;
  HG_ASSIGN(std::vector<LaneCell> cells, reader.Fill(row_of, all, at_once));
  const size_t width = at_once ? steps : 1;
  std::vector<uint64_t> events(all);
  for (size_t i = 0; i < cells.size(); ++i) {
    events[i / width] += cells[i].allocated_blocks + cells[i].freed_blocks;
  }
  std::vector<uint32_t> order(threads.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return events[a] > events[b]; });
  while (!order.empty() && events[order.back()] == 0) order.pop_back();
  const size_t own = std::min(most, order.size());
  if (!at_once) {
    std::fill(row_of.begin(), row_of.end(), static_cast<uint32_t>(own));
    for (uint32_t i = 0; i < own; ++i) row_of[order[i]] = i;
    HG_ASSIGN(cells, reader.Fill(row_of, own + 1, true));
  }
  const auto new_lane = [&] {
    Timeline::Lane lane;
    for (auto* values : {&lane.allocated_bytes, &lane.allocated_blocks, &lane.freed_bytes}) {
      values->assign(steps, 0);
    }
    return lane;
  };
  for (size_t i = 0; i < own; ++i) {
    Timeline::Lane lane = new_lane();
    lane.thread = threads[order[i]].id;
    lane.name = threads[order[i]].name;
    AddLaneRow(cells, row_of[order[i]], &lane);
    timeline->lanes.push_back(std::move(lane));
  }
  const bool has_unknown = events[threads.size()] > 0;
  if (own == order.size() && !has_unknown) return {};
  Timeline::Lane rest = new_lane();
  rest.is_rest = true;
  rest.threads = order.size() - own + (has_unknown ? 1 : 0);
  if (at_once) {
    for (size_t i = own; i < order.size(); ++i) AddLaneRow(cells, order[i], &rest);
    AddLaneRow(cells, threads.size(), &rest);
  } else {
    AddLaneRow(cells, own, &rest);
  }
  timeline->lanes.push_back(std::move(rest));
  return {};
}

}  // namespace heapgauge::trace
