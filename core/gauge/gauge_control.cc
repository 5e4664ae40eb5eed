#include "core/gauge/gauge_control.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>

#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr size_t kControl = offsetof(wire::Header, control);

}  // namespace

Result<GaugeControl> GaugeControl::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForUpdate(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  GaugeControl control(std::move(file));
  control.generation_ = layout.header().control.generation;
  return control;
}

template <typename Word>
Status GaugeControl::Change(size_t offset, Word value) {
  HG_TRY(file_.WriteAt(offset, &value, sizeof value));
  uint32_t generation = 0;
  const size_t at = kControl + offsetof(wire::Control, generation);
  if (file_.ReadAt(at, &generation, sizeof generation) != sizeof generation) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  generation_ = generation + 1;
  return file_.WriteAt(at, &generation_, sizeof generation_);
}

Status GaugeControl::SetActive(bool active) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, active), active ? 1 : 0);
}

Status GaugeControl::SetInterval(uint64_t bytes) {
  if (bytes == 0 || bytes > wire::kMaxIntervalBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the interval must be from 1 byte to {}",
                            FormatBytes(static_cast<double>(wire::kMaxIntervalBytes))));
  }
  return Change<uint64_t>(kControl + offsetof(wire::Control, interval), bytes);
}

Status GaugeControl::SetMaxSamplesPerSecond(uint32_t samples) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, max_samples_per_second), samples);
}

Result<uint32_t> GaugeControl::ReadCounter(size_t offset) const {
  uint32_t value = 0;
  if (file_.ReadAt(offset, &value, sizeof value) != sizeof value) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  return value;
}

Status GaugeControl::RequestReset() {
  const size_t at = kControl + offsetof(wire::Control, reset_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  return Change<uint32_t>(at, requests + 1);
}

Status GaugeControl::RequestStatistics() {
  const size_t at = kControl + offsetof(wire::Control, statistics_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  statistics_requests_ = requests + 1;
  return Change<uint32_t>(at, statistics_requests_);
}

bool GaugeControl::WaitForStatistics(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  constexpr size_t kStatistics = offsetof(wire::Header, statistics);
  while (true) {
    wire::AllocatorStatistics statistics{};
    const size_t got = file_.ReadAt(kStatistics, &statistics, sizeof statistics);
    if (got == sizeof statistics && statistics.state != 0 && statistics.state % 2 == 0 &&
        static_cast<int32_t>(statistics.requests - statistics_requests_) >= 0) {
      return true;
    }
    if (MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 5);
  }
}

// Not announced: the program itself has nothing to do with it.
Status GaugeControl::RequestTrace() {
  const size_t at = kControl + offsetof(wire::Control, trace_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  trace_requests_ = requests + 1;
  return file_.WriteAt(at, &trace_requests_, sizeof trace_requests_);
}

bool GaugeControl::WaitForTrace(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    const auto answers = ReadCounter(offsetof(wire::Header, trace_answers));
    if (answers && static_cast<int32_t>(*answers - trace_requests_) >= 0) return true;
    if (!answers || MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 5);
  }
}

bool GaugeControl::WaitUntilSeen(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    uint32_t seen = 0;
    const size_t got = file_.ReadAt(offsetof(wire::Header, seen_generation), &seen, sizeof seen);
    // Generations wrap around: compare by distance.
    if (got == sizeof seen && static_cast<int32_t>(seen - generation_) >= 0) return true;
    if (MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 10);
  }
}

namespace {

constexpr uint64_t kOldEnoughNs = wire::kTickNs / 10 * 9;

}  // namespace

Result<GaugeTicker> GaugeTicker::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForUpdate(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  GaugeTicker ticker(std::move(file));
  ticker.pid_ = layout.header().pid;
  return ticker;
}

bool GaugeTicker::IsAt(const std::string& path) const {
  struct stat open {};
  struct stat named {};
  return fstat(file_.fd(), &open) == 0 && stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Result<bool> GaugeTicker::Tick(uint64_t resident_bytes, uint64_t monotonic_now_ns) {
  if (timeline_offset_ == 0) {
    HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file_, file_.path()));
    const auto offset = layout.SegmentOffset(wire::SegmentKind::kTimeline, 0);
    if (!offset ||
        layout.record_bytes(wire::SegmentKind::kTimeline) != sizeof(wire::TimelineRecord)) {
      return false;  // not made yet
    }
    timeline_offset_ = *offset;
  }
  wire::Header header{};
  if (file_.ReadAt(0, &header, sizeof header) != sizeof header ||
      file_.Size() < timeline_offset_ + wire::kSegmentBytes) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' was cut short");
  }
  if (header.ended_ns != 0 || monotonic_now_ns < header.start_monotonic_ns) return false;
  const uint64_t now = monotonic_now_ns - header.start_monotonic_ns;
  if (now < header.last_tick_ns + kOldEnoughNs) {
    HG_TRY(CompleteLast(header, resident_bytes));
    return false;
  }
  // First of all, so that the agent does not take the same tick.
  HG_TRY(file_.WriteAt(offsetof(wire::Header, last_tick_ns), &now, sizeof now));

  wire::TimelineRecord record{};
  record.time_ns = now;
  record.live_bytes = header.totals.live_bytes;
  record.live_objects = header.totals.live_objects;
  record.allocated_bytes = header.totals.allocated_bytes;
  record.freed_bytes = header.totals.freed_bytes;
  record.resident_bytes = resident_bytes;
  record.samples = header.totals.samples;
  const uint32_t tick = header.timeline_ticks;
  for (uint32_t level = 0; level < wire::kTimelineLevels; ++level) {
    const uint32_t shift = 4 * level;
    if ((tick & ((uint32_t{1} << shift) - 1)) != 0)
      break;  // each level gets every 16th of the one before
    const uint32_t index = level * wire::kTimelineSlots + (tick >> shift) % wire::kTimelineSlots;
    const uint64_t at = timeline_offset_ + uint64_t{index} * sizeof record;
    uint64_t state = 0;
    if (file_.ReadAt(at, &state, sizeof state) != sizeof state) return false;
    const uint64_t writing = state | 1;
    HG_TRY(file_.WriteAt(at, &writing, sizeof writing));
    record.state = writing;
    HG_TRY(file_.WriteAt(at, &record, sizeof record));
    const uint64_t valid = writing + 1;
    HG_TRY(file_.WriteAt(at, &valid, sizeof valid));
  }
  const uint32_t next = tick + 1;
  HG_TRY(file_.WriteAt(offsetof(wire::Header, timeline_ticks), &next, sizeof next));
  return true;
}

// The agent has ticked by itself, without knowing how much memory is resident.
Status GaugeTicker::CompleteLast(const wire::Header& header, uint64_t resident_bytes) {
  if (header.timeline_ticks == 0) return {};
  const uint32_t tick = header.timeline_ticks - 1;
  for (uint32_t level = 0; level < wire::kTimelineLevels; ++level) {
    const uint32_t shift = 4 * level;
    if ((tick & ((uint32_t{1} << shift) - 1)) != 0) break;
    const uint32_t index = level * wire::kTimelineSlots + (tick >> shift) % wire::kTimelineSlots;
    const uint64_t at = timeline_offset_ + uint64_t{index} * sizeof(wire::TimelineRecord);
    wire::TimelineRecord record{};
    if (file_.ReadAt(at, &record, sizeof record) != sizeof record) return {};
    if (record.state == 0 || record.state % 2 != 0 || record.time_ns != header.last_tick_ns ||
        record.resident_bytes != 0) {
      continue;
    }
    HG_TRY(file_.WriteAt(at + offsetof(wire::TimelineRecord, resident_bytes), &resident_bytes,
                         sizeof resident_bytes));
  }
  return {};
}

Status GaugeTicker::WriteMemory(wire::ProcessMemory memory, uint64_t monotonic_now_ns) {
  constexpr size_t kAt = offsetof(wire::Header, memory);
  uint64_t start = 0;
  uint64_t state = 0;
  if (file_.ReadAt(offsetof(wire::Header, start_monotonic_ns), &start, sizeof start) !=
          sizeof start ||
      file_.ReadAt(kAt, &state, sizeof state) != sizeof state) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' was cut short");
  }
  memory.time_ns = monotonic_now_ns > start ? monotonic_now_ns - start : 0;
  memory.state = state | 1;
  HG_TRY(file_.WriteAt(kAt, &memory.state, sizeof memory.state));
  HG_TRY(file_.WriteAt(kAt, &memory, sizeof memory));
  const uint64_t valid = memory.state + 1;
  return file_.WriteAt(kAt, &valid, sizeof valid);
}

}  // namespace heapgauge
