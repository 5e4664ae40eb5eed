#include "agent/table/history.h"

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

using wire::PeakRecord;
using wire::SegmentKind;

void Peak::Take(GaugeFile* file, const LiveTable& live, uint64_t live_bytes, uint64_t live_objects,
                uint64_t now_ns, uint64_t reset_ns) {
  if (!taking_.Lock()) return;
  const uint32_t buffer = current_ == 1 ? 1 : 0;  // the one that is not current
  const SegmentKind kind = buffer == 0 ? SegmentKind::kPeak0 : SegmentKind::kPeak1;
  uint32_t count = 0;
  bool whole = true;
  live.ForEach([&](const wire::LiveRecord& block) {
    if (!whole || block.birth_ns < reset_ns) return;
    wire::Loss ignored;
    auto* record = file->At<PeakRecord>(kind, count, &ignored);
    if (record == nullptr) {
      whole = false;
      return;
    }
    *record = PeakRecord{block.stack, static_cast<float>(block.interval), block.size};
    ++count;
  });
  // Without room for a newer picture the older one is kept, but not tried again at every sample.
  highest_.store(live_bytes, std::memory_order_relaxed);
  if (whole) {
    file->header()->peak[buffer] = wire::PeakInfo{now_ns, live_bytes, live_objects, count, 0};
    current_ = buffer + 1;
    std::atomic_ref(file->header()->peak_current).store(current_, std::memory_order_release);
  }
  taking_.Unlock();
}

void Peak::Clear(GaugeFile* file) {
  highest_.store(0);
  Put(file->header()->peak_current, uint32_t{0});
}

using wire::SegmentKind;
using wire::TimelineRecord;

bool TickIfDue(GaugeFile* file, uint64_t now_ns) {
  wire::Header& header = *file->header();
  std::atomic_ref<uint64_t> last(header.last_tick_ns);
  uint64_t seen = last.load(std::memory_order_relaxed);
  // 0: the first. A time in the future was not written by us: ignore it rather than wait for it.
  if (seen != 0 && seen <= now_ns && now_ns - seen < wire::kTickNs) return false;
  if (!last.compare_exchange_strong(seen, now_ns)) return false;

  const uint32_t tick = std::atomic_ref(header.timeline_ticks).fetch_add(1);
  const wire::Totals& totals = header.totals;
  for (uint32_t level = 0; level < wire::kTimelineLevels; ++level) {
    if ((tick & ((1u << 4 * level) - 1)) != 0) break;
    const uint32_t slot = (tick >> 4 * level) % wire::kTimelineSlots;
    wire::Loss ignored;
    auto* record = file->At<TimelineRecord>(SegmentKind::kTimeline,
                                            level * wire::kTimelineSlots + slot, &ignored);
    if (record == nullptr) break;
    WriteSequenced(*record, [&](TimelineRecord& out) {
      out.time_ns = now_ns;
      out.live_bytes = totals.live_bytes;
      out.live_objects = totals.live_objects;
      out.allocated_bytes = totals.allocated_bytes;
      out.freed_bytes = totals.freed_bytes;
      out.resident_bytes = 0;
      out.samples = totals.samples;
    });
  }
  return true;
}

void ClearTimeline(GaugeFile* file) {
  for (uint32_t i = 0; i < wire::kTimelineLevels * wire::kTimelineSlots; ++i) {
    if (auto* record = file->Existing<TimelineRecord>(SegmentKind::kTimeline, i)) {
      std::atomic_ref(record->state).store(0);
    }
  }
  Put(file->header()->timeline_ticks, uint32_t{0});
}

}  // namespace heapgauge::agent
