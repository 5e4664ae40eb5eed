// What is written by HeaptrackWriter: a profile, or a trace.

#include <algorithm>

#include "core/formats/heaptrack/heaptrack_writer.h"

namespace heapgauge {
namespace {

// A line for each block: beyond this, nobody has the patience to read the file.
constexpr uint64_t kMaxBlocks = 200'000'000;
constexpr uint64_t kTickNs = 10'000'000;  // as heaptrack has it

// Writes times and memory between events, as often as heaptrack does.
class Clock {
 public:
  Clock(const std::vector<trace::MemoryPoint>& memory, HeaptrackWriter* writer)
      : memory_(memory), writer_(writer) {}

  // Before an event at that time.
  void GoTo(uint64_t time_ns) {
    while (next_ < memory_.size() && memory_[next_].time_ns <= time_ns) {
      const trace::MemoryPoint& point = memory_[next_++];
      if (point.resident_bytes == 0) continue;
      Tick(point.time_ns);
      writer_->Resident(point.resident_bytes);
    }
    if (time_ns >= last_ns_ + kTickNs) Tick(time_ns);
  }
  void End(uint64_t time_ns) {
    GoTo(time_ns);
    Tick(time_ns);
  }

 private:
  void Tick(uint64_t time_ns) {
    const uint64_t milliseconds = std::max(time_ns, last_ns_) / 1'000'000;
    if (begun_ && milliseconds == last_ns_ / 1'000'000) return;
    writer_->Time(milliseconds);
    last_ns_ = std::max(time_ns, last_ns_);
    begun_ = true;
  }

  const std::vector<trace::MemoryPoint>& memory_;
  HeaptrackWriter* writer_;
  size_t next_ = 0;
  uint64_t last_ns_ = 0;
  bool begun_ = false;
};

}  // namespace

Result<HeaptrackExport> WriteHeaptrack(const Profile& profile, const std::vector<bool>& selected,
                                       TextSink* out) {
  const size_t objects = profile.FindType("inuse_objects");
  const size_t space = profile.FindType("inuse_space");
  if (std::max(objects, space) >= profile.sample_types.size()) {
    return Fail(ErrorCode::kUnsupported,
                "the profile has no figures of memory in use (inuse_objects, inuse_space)");
  }
  HeaptrackExport result;
  std::vector<RowId> rows;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const int64_t n = profile.value(row, objects);
    const int64_t bytes = profile.value(row, space);
    if (n <= 0 || bytes < 0) {
      if (n != 0 || bytes != 0) ++result.skipped_rows;
      continue;
    }
    rows.push_back(row);
    result.allocations += static_cast<uint64_t>(n);
    if (result.allocations > kMaxBlocks) {
      return Fail(ErrorCode::kUnsupported,
                  "more than 200 million live blocks, each of which would be a line");
    }
  }
  HeaptrackWriter writer(profile, out);
  writer.Begin({"made by heapgauge from a profile: the blocks that were live, none of them freed",
                "sizes are means of their stack; no times, no temporary allocations, no peak"});
  for (const RowId row : rows) {
    const auto n = static_cast<uint64_t>(profile.value(row, objects));
    const auto bytes = static_cast<uint64_t>(profile.value(row, space));
    const uint64_t larger = bytes % n;
    for (uint64_t i = 0; i < n; ++i) {
      writer.Allocate(bytes / n + (i < larger ? 1 : 0), profile.rows[row].leaf);
      HG_TRY(writer.Flush(false));
    }
  }
  writer.Time(profile.recording.duration_ns / 1'000'000);
  HG_TRY(writer.Flush(true));
  return result;
}

Result<HeaptrackExport> WriteHeaptrack(const trace::TraceFile& trace,
                                       const trace::TraceFile::Stacks& stacks,
                                       ProgressSink* progress, TextSink* out) {
  HeaptrackExport result;
  HeaptrackWriter writer(stacks.profile, out);
  writer.Begin({"made by heapgauge from a trace: every allocation and free in order"});
  const auto leaf = [&](const trace::Block& block) {
    return block.stack < stacks.stacks.size() ? stacks.stacks[block.stack].leaf : kNone;
  };
  Clock clock(trace.memory(), &writer);
  trace::Segment segment;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    if (progress != nullptr) {
      progress->Report("writing", i, trace.segments().size(), "segments");
    }
    HG_TRY(trace.ReadSegment(i, trace::kOldBlocks | trace::kNewBlocks | trace::kEvents, &segment));
    for (const trace::Event& event : segment.events) {
      clock.GoTo(event.time_ns);
      if (event.died != trace::kNoIndex) {
        const trace::Block& block = segment.blocks[event.died];
        if (!block.is_mapping) writer.Free(block.size, leaf(block));
      }
      if (event.born != trace::kNoIndex) {
        const trace::Block& block = segment.blocks[event.born];
        if (!block.is_mapping) {
          writer.Allocate(block.size, leaf(block));
          ++result.allocations;
        }
      }
      HG_TRY(writer.Flush(false));
    }
  }
  clock.End(trace.end_ns());
  HG_TRY(writer.Flush(true));
  return result;
}

}  // namespace heapgauge
