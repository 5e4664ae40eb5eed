// Gathers GaugeFacts: the summary that ps and run show anyway, and what the header and the
// timeline say about the pace.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/file.h"
#include "core/doctor/gauge.h"
#include "core/gauge/gauge_layout.h"
#include "core/os/process.h"
#include "wire/gauge_format.h"

namespace heapgauge {
namespace {

// A pace of allocating is best told over a minute; whether a program still grows shows sooner.
constexpr uint64_t kPaceNs = 60'000'000'000;
constexpr uint64_t kGrowthNs = 10'000'000'000;

// The finest level of the timeline, as it is in the file.
std::vector<wire::TimelineRecord> ReadTicks(const File& file, const GaugeLayout& layout) {
  std::vector<wire::TimelineRecord> ticks;
  const auto offset = layout.SegmentOffset(wire::SegmentKind::kTimeline, 0);
  if (!offset) return ticks;
  const size_t stride = layout.record_bytes(wire::SegmentKind::kTimeline);
  std::vector<char> ring(stride * wire::kTimelineSlots);
  const size_t got = file.ReadAt(*offset, ring.data(), ring.size());
  for (size_t at = 0; at + sizeof(wire::TimelineRecord) <= got; at += stride) {
    wire::TimelineRecord record{};
    std::memcpy(&record, ring.data() + at, sizeof record);
    const bool is_whole = record.state != 0 && record.state % 2 == 0;
    if (is_whole && record.time_ns != 0) ticks.push_back(record);
  }
  return ticks;
}

// The oldest tick of the last `window_ns` before `now_ns`, but at least half a second old and not
// before a reset. Nothing if there is none.
const wire::TimelineRecord* TickWithin(const std::vector<wire::TimelineRecord>& ticks,
                                       uint64_t window_ns, uint64_t now_ns, uint64_t reset_ns) {
  const wire::TimelineRecord* best = nullptr;
  for (const wire::TimelineRecord& tick : ticks) {
    if (tick.time_ns <= reset_ns || tick.time_ns > now_ns) continue;
    const uint64_t age = now_ns - tick.time_ns;
    if (age > window_ns || age < 500'000'000) continue;
    if (best == nullptr || tick.time_ns < best->time_ns) best = &tick;
  }
  return best;
}

double Difference(uint64_t later, uint64_t earlier) {
  return static_cast<double>(later) - static_cast<double>(earlier);
}

// Does the user wait for the program to take something up? Not if it is only that a report has
// asked for the allocator's figures.
bool ChangePending(const wire::Header& header) {
  const wire::Control& control = header.control;
  if (control.generation == header.seen_generation) return false;
  return control.statistics_requests == header.statistics.requests ||
         (control.active != 0) != (header.active != 0) ||
         std::max<uint64_t>(control.interval, 1) != header.interval ||
         control.reset_requests != header.resets;
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
  facts.change_pending = ChangePending(header);
  facts.asked_active = header.control.active != 0;
  facts.allocated_bytes = static_cast<double>(header.totals.allocated_bytes);

  RecordingFacts& r = facts.summary.recording;
  facts.control_name = std::to_string(r.pid);
  if (running_as != 0 && r.state != RecordingState::kLive) {
    r.state = RecordingState::kLive;
    const uint64_t clock = MonotonicNow();
    if (clock > header.start_monotonic_ns) r.duration_ns = clock - header.start_monotonic_ns;
  }
  if (running_as != 0 && r.pid != running_as) facts.control_name = path;
  const uint64_t now = r.duration_ns;
  // What a program allocates within its first moments is no pace that it keeps up.
  const uint64_t since = std::max(r.reset_ns, r.began_ns());
  const double whole = std::max(now > since ? Difference(now, since) / 1e9 : 0, 1.0);
  facts.allocated_per_second = facts.allocated_bytes / whole;
  // A forked process did not allocate what it inherited.
  facts.growth_per_second = std::min(facts.summary.live_bytes.value, facts.allocated_bytes) / whole;
  const std::vector<wire::TimelineRecord> ticks = ReadTicks(file, layout);
  if (const auto* past = TickWithin(ticks, kPaceNs, now, r.reset_ns);
      past != nullptr && past->allocated_bytes <= header.totals.allocated_bytes) {
    facts.allocated_per_second = Difference(header.totals.allocated_bytes, past->allocated_bytes) /
                                 (Difference(now, past->time_ns) / 1e9);
  }
  if (const auto* past = TickWithin(ticks, kGrowthNs, now, r.reset_ns); past != nullptr) {
    facts.growth_per_second = Difference(header.totals.live_bytes, past->live_bytes) /
                              (Difference(now, past->time_ns) / 1e9);
  }
  return facts;
}

}  // namespace heapgauge
