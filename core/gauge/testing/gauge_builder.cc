#include "core/gauge/testing/gauge_builder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/os/process.h"

namespace heapgauge::testing {
namespace {

using wire::SegmentKind;

// The records of one kind, cut into segments.
template <typename Record>
void AddSegments(SegmentKind kind, const std::vector<Record>& records,
                 std::vector<std::pair<uint32_t, std::string>>* segments) {
  const size_t per_segment = wire::RecordsPerSegment(sizeof(Record));
  uint32_t ordinal = 0;
  for (size_t first = 0; first < records.size(); first += per_segment) {
    const size_t here = std::min(per_segment, records.size() - first);
    std::string bytes(wire::kSegmentBytes, '\0');
    std::memcpy(bytes.data(), &records[first], here * sizeof(Record));
    segments->emplace_back(wire::DirectoryWord(kind, ordinal++), std::move(bytes));
  }
}

}  // namespace

GaugeBuilder::GaugeBuilder() {
  wire::Header& h = header_;
  std::memcpy(h.magic, wire::kMagic, sizeof h.magic);
  wire::DescribeLayout(&h);
  h.pid = static_cast<uint32_t>(getpid());
  h.parent_pid = static_cast<uint32_t>(getppid());
  h.uid = getuid();
  h.allocator = static_cast<uint32_t>(wire::Allocator::kGlibc);
  if (const auto self = ReadProcess(h.pid)) h.process_start_ticks = self->start_ticks;
  h.pid_namespace = ProcNamespace();
  h.start_realtime_ns = RealtimeNow() - 60 * wire::kTickNs;
  h.start_monotonic_ns =
      MonotonicNow() > 60 * wire::kTickNs ? MonotonicNow() - 60 * wire::kTickNs : 0;
  h.active = 1;
  h.interval = h.interval_in_force = wire::kDefaultIntervalBytes;
  h.control.active = 1;
  h.control.interval = wire::kDefaultIntervalBytes;
  h.control.max_samples_per_second = wire::kDefaultMaxSamplesPerSecond;
  std::strcpy(h.allocator_path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
  std::strcpy(h.agent_version, "test");
  std::strcpy(h.exe, "/usr/bin/server");
  h.command_line_bytes = 17;
  std::memcpy(h.command_line,
              "server\0--port\0"
              "80\0",
              17);
  nodes_.emplace_back();
  stacks_.emplace_back();
}

void GaugeBuilder::AddModule(const std::string& path, uint64_t start, uint64_t end, uint64_t bias,
                             const std::string& build_id) {
  wire::ModuleRecord m{};
  m.start = start;
  m.end = end;
  m.load_bias = bias;
  m.loaded = 1;
  m.build_id_bytes = static_cast<uint32_t>(std::min(build_id.size(), sizeof m.build_id));
  std::memcpy(m.build_id, build_id.data(), m.build_id_bytes);
  path.copy(m.path, sizeof m.path - 1);
  modules_.push_back(m);
}

// The last module added that holds the address, as nodes name it.
uint32_t GaugeBuilder::ModuleOf(uint64_t address) const {
  for (size_t i = modules_.size(); i-- > 0;) {
    if (modules_[i].start <= address && address < modules_[i].end)
      return static_cast<uint32_t>(i + 1);
  }
  return 0;
}

uint32_t GaugeBuilder::AddStack(const std::vector<uint64_t>& pcs, uint32_t leaf_flags) {
  uint32_t parent = 0;
  for (size_t i = pcs.size(); i-- > 0;) {
    const uint32_t flags = i == 0 ? leaf_flags : 0;
    const uint64_t address = (flags & wire::kNodeExactPc) != 0 ? pcs[i] : pcs[i] - 1;
    wire::NodeRecord node{wire::PackPc(pcs[i], ModuleOf(address)), parent, flags};
    const auto same = [&](const wire::NodeRecord& n) {
      return n.pc_module == node.pc_module && n.parent == node.parent && n.flags == node.flags;
    };
    const auto it = std::find_if(nodes_.begin() + 1, nodes_.end(), same);
    parent = static_cast<uint32_t>(it - nodes_.begin());
    if (it == nodes_.end()) nodes_.push_back(node);
  }
  wire::StackRecord stack{};
  stack.node = parent;
  stacks_.push_back(stack);
  return static_cast<uint32_t>(stacks_.size() - 1);
}

void GaugeBuilder::Count(uint32_t stack, uint64_t size, uint64_t interval, bool freed) {
  const double s = static_cast<double>(size);
  const double p = -std::expm1(-s / static_cast<double>(interval));
  wire::Totals& t = header_.totals;
  ++t.samples;
  t.allocated_bytes += static_cast<uint64_t>(s / p);
  t.allocated_objects += static_cast<uint64_t>(1 / p);
  (freed ? t.freed_bytes : t.live_bytes) += static_cast<uint64_t>(s / p);
  (freed ? t.freed_objects : t.live_objects) += static_cast<uint64_t>(1 / p);
  ++(freed ? t.samples_freed : t.live_samples);
  CountInStack(stack, size, interval, freed);
}

void GaugeBuilder::CountInStack(uint32_t stack, uint64_t size, uint64_t interval, bool freed) {
  if (stack >= stacks_.size()) return;
  const double s = static_cast<double>(size);
  const double p = -std::expm1(-s / static_cast<double>(interval));
  wire::StackRecord& record = stacks_[stack];
  ++record.samples;
  record.sampled_bytes += size;
  record.allocated_objects += 1 / p;
  record.allocated_bytes += s / p;
  record.allocated_variance += s * s * (1 - p) / (p * p);
  if (freed) {
    record.freed_objects += 1 / p;
    record.freed_bytes += s / p;
  }
}

wire::LiveRecord& GaugeBuilder::AddLive(uint32_t stack, uint64_t size, uint64_t interval,
                                        uint64_t birth_ns) {
  Count(stack, size, interval, false);
  wire::LiveRecord record{};
  record.state = 2;
  record.address = 0x7f0000000000 + live_.size() * 0x1000;
  record.size = size;
  record.interval = interval;
  record.birth_ns = birth_ns;
  record.usable = (size + 15) / 16 * 16;
  record.stack = stack;
  live_.push_back(record);
  return live_.back();
}

void GaugeBuilder::AddFreed(uint32_t stack, uint64_t size, uint64_t interval) {
  Count(stack, size, interval, true);
}

void GaugeBuilder::AddPeak(uint32_t stack, uint64_t size) {
  peak_.push_back({stack, static_cast<float>(wire::kDefaultIntervalBytes), size});
}

void GaugeBuilder::AddTick(uint64_t time_ns, uint64_t live_bytes) {
  wire::TimelineRecord record{};
  record.state = 2;
  record.time_ns = time_ns;
  record.live_bytes = live_bytes;
  if (ticks_.size() < wire::kTimelineSlots) ticks_.push_back(record);
  header_.timeline_ticks = static_cast<uint32_t>(ticks_.size());
  header_.last_tick_ns = time_ns;
}

wire::MappingRecord& GaugeBuilder::AddMapping(uint32_t stack, uint64_t address, uint64_t length) {
  if (mappings_.empty()) mappings_.emplace_back();  // record 0 is not used
  header_.hooks_mappings = 1;
  stacks_[stack].flags |= wire::kStackOfMappings;
  stacks_[stack].samples += 1;
  stacks_[stack].sampled_bytes += length;
  stacks_[stack].allocated_objects += 1;
  stacks_[stack].allocated_bytes += static_cast<double>(length);
  wire::MappingRecord record{};
  record.state = 2;
  record.address = address;
  record.length = length;
  record.stack = stack;
  mappings_.push_back(record);
  return mappings_.back();
}

uint16_t GaugeBuilder::AddLabel(uint16_t parent, const std::string& key, const std::string& value) {
  if (labels_.empty()) labels_.emplace_back();  // set 0 has no record
  wire::LabelRecord record{};
  record.valid = 1;
  record.parent = parent;
  record.depth = static_cast<uint16_t>(labels_[parent].depth + 1);
  record.key_bytes = static_cast<uint16_t>(key.copy(record.key, sizeof record.key - 1));
  record.value_bytes = static_cast<uint16_t>(value.copy(record.value, sizeof record.value - 1));
  labels_.push_back(record);
  return static_cast<uint16_t>(labels_.size() - 1);
}

wire::LiveRecord& GaugeBuilder::AddPoolBlock(uint32_t stack, uint64_t size, uint64_t interval) {
  if (pool_live_.empty()) pool_live_.emplace_back();  // record 0 is not used
  stacks_[stack].flags |= wire::kStackOfPool;
  CountInStack(stack, size, interval, false);
  wire::LiveRecord record{};
  record.state = 2;
  record.address = 0x7e0000000000 + pool_live_.size() * 0x1000;
  record.size = record.usable = size;
  record.interval = interval;
  record.stack = stack;
  record.flags = 1u << wire::kLivePoolShift;
  record.function = static_cast<uint32_t>(wire::AllocationFunction::kPool);
  pool_live_.push_back(record);
  return pool_live_.back();
}

std::string GaugeBuilder::Build() {
  std::vector<std::pair<uint32_t, std::string>> segments;
  if (ticks_.empty()) {
    segments.emplace_back(wire::DirectoryWord(SegmentKind::kTimeline, 0),
                          std::string(wire::kSegmentBytes, '\0'));
  }
  AddSegments(SegmentKind::kTimeline, ticks_, &segments);
  AddSegments(SegmentKind::kLive, live_, &segments);
  AddSegments(SegmentKind::kStacks, stacks_, &segments);
  AddSegments(SegmentKind::kModules, modules_, &segments);
  AddSegments(SegmentKind::kNodes, nodes_, &segments);
  AddSegments(SegmentKind::kPeak1, peak_, &segments);
  AddSegments(SegmentKind::kMappings, mappings_, &segments);
  AddSegments(SegmentKind::kLabels, labels_, &segments);
  AddSegments(SegmentKind::kPoolLive, pool_live_, &segments);
  // Growth interleaves the kinds; an order that is not the order of the kinds stands for that.
  std::stable_sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) {
    return wire::DirectoryOrdinal(a.first) < wire::DirectoryOrdinal(b.first);
  });

  wire::Header h = header_;
  h.segment_count = static_cast<uint32_t>(segments.size() + 1);
  h.module_count = static_cast<uint32_t>(modules_.size());
  h.node_count = static_cast<uint32_t>(nodes_.size());
  h.stack_count = static_cast<uint32_t>(stacks_.size());
  h.live_count = static_cast<uint32_t>(live_.size());
  h.mapping_count = static_cast<uint32_t>(mappings_.size());
  h.label_count = static_cast<uint32_t>(labels_.size());
  h.pool_live_count = static_cast<uint32_t>(pool_live_.size());
  if (!peak_.empty()) {
    h.peak_current = 2;
    h.peak[1].count = static_cast<uint32_t>(peak_.size());
    h.peak[1].time_ns = wire::kTickNs;
    for (const wire::PeakRecord& record : peak_) h.peak[1].live_bytes += record.size;
  }
  std::string bytes(wire::kSegmentBytes, '\0');
  std::memcpy(bytes.data(), &h, sizeof h);
  const uint32_t first = wire::DirectoryWord(SegmentKind::kHeader, 0);
  std::memcpy(&bytes[wire::kHeaderBytes], &first, sizeof first);
  for (size_t i = 0; i < segments.size(); ++i) {
    std::memcpy(&bytes[wire::kHeaderBytes + (i + 1) * sizeof(uint32_t)], &segments[i].first,
                sizeof(uint32_t));
  }
  for (const auto& [word, content] : segments) bytes += content;
  return bytes;
}

void GaugeBuilder::WriteTo(const std::string& path) {
  const std::string bytes = Build();
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace heapgauge::testing
