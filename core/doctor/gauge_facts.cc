// Gathers GaugeFacts: the summary that ps and run show anyway, and what the header and the
// timeline say about the pace.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/doctor/gauge.h"
#include "core/formats/gauge/gauge_layout.h"
#include "wire/gauge_format.h"

namespace heapgauge {
namespace {

constexpr uint64_t kMinuteNs = 60'000'000'000;

// The oldest tick of the last minute before `now_ns`; time 0 if there is none.
wire::TimelineRecord TickAMinuteAgo(const File& file, const GaugeLayout& layout, uint64_t now_ns) {
  wire::TimelineRecord best{};
  const auto offset = layout.SegmentOffset(wire::SegmentKind::kTimeline, 0);
  if (!offset) return best;
  const size_t stride = layout.record_bytes(wire::SegmentKind::kTimeline);
  std::vector<char> ring(stride * wire::kTimelineSlots);
  const size_t got = file.ReadAt(*offset, ring.data(), ring.size());
  for (size_t at = 0; at + sizeof best <= got; at += stride) {
    wire::TimelineRecord record{};
    std::memcpy(&record, ring.data() + at, sizeof record);
    const bool is_whole = record.state != 0 && record.state % 2 == 0;
    if (!is_whole || record.time_ns == 0 || record.time_ns > now_ns) continue;
    if (record.time_ns + kMinuteNs < now_ns) continue;
    if (best.time_ns == 0 || record.time_ns < best.time_ns) best = record;
  }
  return best;
}

double Difference(uint64_t later, uint64_t earlier) {
  return static_cast<double>(later) - static_cast<double>(earlier);
}

}  // namespace

Result<GaugeFacts> ReadGaugeFacts(const std::string& path, uint32_t running_as) {
  GaugeFacts facts;
  facts.path = path;
  HG_ASSIGN(facts.summary, ReadGaugeSummary(path));
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  const wire::Header& header = layout.header();
  facts.agent_version = FieldText(header.agent_version, sizeof header.agent_version);
  facts.change_pending = header.control.generation != header.seen_generation;
  facts.asked_active = header.control.active != 0;
  facts.allocated_bytes = static_cast<double>(header.totals.allocated_bytes);

  Recording& r = facts.summary.recording;
  facts.control_name = std::to_string(r.pid);
  if (running_as != 0 && r.state != RecordingState::kLive) {
    r.state = RecordingState::kLive;
    const uint64_t clock = MonotonicNow();
    if (clock > header.start_monotonic_ns) r.duration_ns = clock - header.start_monotonic_ns;
  }
  if (running_as != 0 && r.pid != running_as) facts.control_name = path;
  const uint64_t now = r.duration_ns;
  const wire::TimelineRecord past = TickAMinuteAgo(file, layout, now);
  // A reset in between would make the difference senseless.
  const bool is_usable = past.time_ns > r.reset_ns && now > past.time_ns + 500'000'000 &&
                         past.allocated_bytes <= header.totals.allocated_bytes;
  if (is_usable) {
    const double seconds = Difference(now, past.time_ns) / 1e9;
    facts.allocated_per_second =
        Difference(header.totals.allocated_bytes, past.allocated_bytes) / seconds;
    facts.growth_per_second = Difference(header.totals.live_bytes, past.live_bytes) / seconds;
  } else if (now > r.reset_ns) {
    // What a program allocates within its first moments is no pace that it keeps up.
    const double seconds = std::max(Difference(now, r.reset_ns) / 1e9, 1.0);
    facts.allocated_per_second = facts.allocated_bytes / seconds;
    facts.growth_per_second = facts.summary.live_bytes.value / seconds;
  }
  return facts;
}

}  // namespace heapgauge
