#include "core/gauge/gauge_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/file.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/owner_process.h"
#include "core/model/profile.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr const char* kAllocatorNames[] = {"", "glibc", "jemalloc", "tcmalloc", "mimalloc"};
constexpr const char* kLossNames[] = {"no room in the file", "table full", "busy"};
// No allocation is larger than the address space.
constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 48;

std::vector<std::string> Arguments(const char* field, size_t size) {
  std::vector<std::string> arguments;
  for (size_t at = 0; at < size;) {
    const size_t length = strnlen(field + at, size - at);
    arguments.push_back(FieldText(field + at, length));
    at += length + 1;
  }
  return arguments;
}

DumpFacts DumpFactsOf(const wire::Header& h) {
  DumpFacts d;
  d.sequence = h.dump.sequence;
  if (h.dump.reason != 0) {
    d.reason = wire::DumpReasonName(static_cast<wire::DumpReason>(h.dump.reason));
  }
  d.time_ns = h.dump.time_ns;
  d.failures = h.dump.failures;
  d.last_error = h.dump.last_error;
  const wire::ProcessMemory& m = h.memory;
  if (m.state == 0 || m.state % 2 != 0) return d;
  d.memory_ns = m.time_ns;
  d.resident_bytes = m.resident_bytes;
  d.anonymous_bytes = m.anonymous_bytes;
  d.file_bytes = m.file_bytes;
  d.shared_bytes = m.shared_bytes;
  d.swapped_bytes = m.swapped_bytes;
  d.cgroup_bytes = m.cgroup_bytes;
  d.cgroup_limit = m.cgroup_limit;
  d.address_space_bytes = m.address_space_bytes;
  d.address_space_limit = m.address_space_limit;
  return d;
}

// By the clock of the file. The kernel tells when a process began in hundredths of a second.
uint64_t ForkedNs(const wire::Header& h) {
  if (h.forked == 0) return 0;
  const auto ticks = static_cast<uint64_t>(std::max(1L, sysconf(_SC_CLK_TCK)));
  const uint64_t tick_ns = 1'000'000'000 / ticks;
  if (h.process_start_ticks > UINT64_MAX / tick_ns) return 0;
  const uint64_t start_ns = h.process_start_ticks * tick_ns;
  return start_ns > h.start_monotonic_ns ? start_ns - h.start_monotonic_ns : 0;
}

}  // namespace

bool IsPlausible(const wire::LiveRecord& record) {
  return record.size <= kMaxBlockBytes && record.interval <= wire::kMaxIntervalBytes;
}

RecordingFacts RecordingOf(const GaugeLayout& layout) {
  const wire::Header& h = layout.header();
  RecordingFacts r;
  r.program = FieldText(h.exe, sizeof h.exe);
  r.command_line =
      Arguments(h.command_line, std::min<size_t>(h.command_line_bytes, sizeof h.command_line));
  r.pid = h.pid;
  r.parent_pid = h.parent_pid;
  r.uid = h.uid;
  r.forked = h.forked != 0;
  r.forked_ns = ForkedNs(h);
  r.active = h.active != 0;
  r.traced = h.version >= 4 && h.trace.tracing != 0;
  r.trace_given_up = h.version >= 4 && h.trace.gave_up != 0;
  if (h.allocator < std::size(kAllocatorNames)) r.allocator = kAllocatorNames[h.allocator];
  r.allocator_path = FieldText(h.allocator_path, sizeof h.allocator_path);
  r.start_unix_ns = h.start_realtime_ns;
  r.reset_ns = h.reset_ns;
  r.interval = std::clamp<uint64_t>(h.interval, 1, wire::kMaxIntervalBytes);
  r.interval_in_force = std::clamp<uint64_t>(h.interval_in_force, 1, wire::kMaxIntervalBytes);
  r.max_samples_per_second = h.control.max_samples_per_second;
  r.samples = h.totals.samples;
  r.lacked_descriptors = h.growths_without_descriptor != 0;
  for (uint32_t i = 0; i < wire::kLossKinds; ++i) {
    if (h.totals.lost[i] == 0) continue;
    if (i == static_cast<uint32_t>(wire::Loss::kMapping)) {
      r.lost_mappings = h.totals.lost[i];
      continue;
    }
    std::string name = i < std::size(kLossNames) ? kLossNames[i] : "other";
    if (i == 0 && r.lacked_descriptors) name += ": no file descriptor was left";
    r.lost.emplace_back(std::move(name), h.totals.lost[i]);
  }
  r.lost_bytes = h.totals.lost_bytes;
  r.truncated_walks = h.totals.truncated_walks;
  r.file_bytes = layout.used_bytes();
  r.private_bytes = h.agent_private_bytes;
  if (h.peak_current == 1 || h.peak_current == 2) {
    r.has_peak = true;
    r.peak_ns = h.peak[h.peak_current - 1].time_ns;
    r.peak_bytes = h.peak[h.peak_current - 1].live_bytes;
  }
  r.is_dump = h.is_copy != 0;
  r.dump = DumpFactsOf(h);
  return r;
}

void FindState(const GaugeLayout& layout, const std::string& path, uint64_t last_sign_ns,
               RecordingFacts* r) {
  const wire::Header& h = layout.header();
  if (r->is_dump) {
    r->state = RecordingState::kSnapshot;
    r->duration_ns = r->dump.time_ns;
    return;
  }
  r->duration_ns =
      std::max({last_sign_ns, h.last_tick_ns, h.reset_ns, r->has_peak ? r->peak_ns : 0});
  if (h.ended_ns != 0) {
    r->state = RecordingState::kEnded;
    r->duration_ns = h.ended_ns;
    return;
  }
  const GaugeOwner owner = OwnerIn(h, path);
  const OwnerSearch found = FindRunningOwner(owner);
  const uint32_t pid = found.process.pid;
  const bool runs = pid != 0;
  if (runs && ProcessMapsFile(pid, path).value_or(true)) {
    r->pid = pid;
    r->state = RecordingState::kLive;
    const uint64_t now = MonotonicNow();
    if (now > h.start_monotonic_ns) {
      r->duration_ns = std::max(r->duration_ns, now - h.start_monotonic_ns);
    }
  } else if (WasReplaced(owner)) {
    r->state = RecordingState::kReplaced;
  } else if (found.unclear) {
    r->state = RecordingState::kUnknown;
  } else {
    r->state = runs ? RecordingState::kSnapshot : RecordingState::kKilled;
  }
}

Result<GaugeSummary> ReadGaugeSummary(const std::string& path) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  GaugeSummary summary;
  RecordingFacts& r = summary.recording;
  r = RecordingOf(layout);
  uint64_t last_birth = 0;
  r.unreadable_records += ForEachStable<wire::LiveRecord>(
      file, layout, wire::SegmentKind::kLive, [&](uint32_t, const wire::LiveRecord& record) {
        if (!IsPlausible(record)) {
          ++r.unreadable_records;
          return;
        }
        if (record.birth_ns < r.reset_ns) return;
        const SampleWeight weight = WeightOf(record.size, record.interval);
        summary.live_bytes.Add(BytesEstimate(record.size, weight));
        summary.live_objects += weight.objects;
        last_birth = std::max(last_birth, record.birth_ns);
        ++r.live_samples;
        if ((record.flags & wire::kLiveInherited) != 0) ++r.inherited_samples;
      });
  FindState(layout, path, last_birth, &r);
  return summary;
}

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
