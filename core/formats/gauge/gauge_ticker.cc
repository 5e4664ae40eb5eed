#include "core/formats/gauge/gauge_ticker.h"

#include <cstddef>

#include "core/base/text.h"
#include "core/formats/gauge/gauge_layout.h"

namespace heapgauge {
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
  if (now < header.last_tick_ns + kOldEnoughNs) return false;
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

}  // namespace heapgauge
