#include "core/gauge/gauge_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/file.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/gauge_records.h"
#include "core/gauge/gauge_summary.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

// A structure of the header with a sequence word; nothing if it was never written or is not at
// rest.
template <typename Record>
std::optional<Record> ReadSettled(const ByteSource& source, size_t offset) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    Record a;
    Record b;
    if (source.ReadAt(offset, &a, sizeof a) != sizeof a) return std::nullopt;
    if (source.ReadAt(offset, &b, sizeof b) != sizeof b) return std::nullopt;
    if (a.state == 0) return std::nullopt;
    if (a.state % 2 == 0 && std::memcmp(&a, &b, sizeof a) == 0) return a;
  }
  return std::nullopt;
}

bool Bounded(std::initializer_list<uint64_t> values) {
  return std::all_of(values.begin(), values.end(), [](uint64_t v) { return v < kAddressSpace; });
}

}  // namespace

Result<GaugeMemory> ReadGaugeMemory(const std::string& path) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  const wire::Header& header = layout.header();
  GaugeMemory memory;
  memory.path = path;
  memory.recording = RecordingOf(layout);
  memory.allocator = header.allocator <= static_cast<uint32_t>(wire::Allocator::kMimalloc)
                         ? static_cast<wire::Allocator>(header.allocator)
                         : wire::Allocator::kUnknown;
  uint64_t last_birth = 0;
  uint64_t unreadable = ForEachStable<wire::LiveRecord>(
      file, layout, wire::SegmentKind::kLive, [&](uint32_t, wire::LiveRecord record) {
        if (!IsPlausible(record) || record.address >= kAddressSpace) {
          ++memory.recording.unreadable_records;
          return;
        }
        if (record.birth_ns < header.reset_ns) return;
        record.usable = std::clamp(record.usable, record.size, record.size + (uint64_t{1} << 30));
        last_birth = std::max(last_birth, record.birth_ns);
        memory.live.push_back(record);
      });
  memory.recording.live_samples = memory.live.size();
  memory.records_mappings = header.hooks_mappings != 0;
  unreadable += ForEachStable<wire::MappingRecord>(
      file, layout, wire::SegmentKind::kMappings, [&](uint32_t, const wire::MappingRecord& m) {
        if (m.address >= kAddressSpace || m.length == 0 || m.length >= kAddressSpace) {
          ++memory.recording.unreadable_records;
          return;
        }
        memory.mappings.push_back(m);
      });
  unreadable += ForEachStable<wire::TimelineRecord>(
      file, layout, wire::SegmentKind::kTimeline, [&](uint32_t, const wire::TimelineRecord& r) {
        memory.timeline.push_back({r.time_ns, r.live_bytes, r.live_objects, r.allocated_bytes,
                                   r.freed_bytes, r.resident_bytes, r.samples});
      });
  std::sort(memory.timeline.begin(), memory.timeline.end(),
            [](const TimelinePoint& a, const TimelinePoint& b) { return a.time_ns < b.time_ns; });
  // A tick that several levels keep is one point.
  memory.timeline.erase(std::unique(memory.timeline.begin(), memory.timeline.end(),
                                    [](const TimelinePoint& a, const TimelinePoint& b) {
                                      return a.time_ns == b.time_ns;
                                    }),
                        memory.timeline.end());
  memory.recording.unreadable_records += unreadable;
  memory.statistics =
      ReadSettled<wire::AllocatorStatistics>(file, offsetof(wire::Header, statistics));
  if (memory.statistics) {
    const auto& s = *memory.statistics;
    if (!Bounded({s.mapped_bytes, s.resident_bytes, s.in_use_bytes, s.free_bytes, s.cached_bytes,
                  s.metadata_bytes})) {
      memory.statistics.reset();
    }
  }
  memory.memory = ReadSettled<wire::ProcessMemory>(file, offsetof(wire::Header, memory));
  if (memory.memory) {
    const auto& m = *memory.memory;
    if (!Bounded({m.resident_bytes, m.anonymous_bytes, m.file_bytes, m.shared_bytes,
                  m.swapped_bytes, m.cgroup_bytes})) {
      memory.memory.reset();
    }
  }
  const uint32_t ranges = std::min(header.agent_range_count, wire::kMaxAgentRanges);
  for (uint32_t i = 0; i < ranges; ++i) {
    memory.agent_ranges.push_back({header.agent_ranges[i].start, header.agent_ranges[i].end});
  }
  memory.agent_ranges = Merged(std::move(memory.agent_ranges));
  memory.agent_ranges_known = ranges != 0 && header.agent_ranges_lost == 0;
  FindState(layout, path, last_birth, &memory.recording);
  const uint64_t now = MonotonicNow();
  if (memory.recording.state == RecordingState::kLive && now > header.start_monotonic_ns) {
    memory.now_ns = now - header.start_monotonic_ns;
  }
  return memory;
}

}  // namespace heapgauge
