#include "agent/table/peak.h"

#include "agent/table/atomic_file.h"

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

}  // namespace heapgauge::agent
