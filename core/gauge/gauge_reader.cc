#include "core/gauge/gauge_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/gauge_names.h"
#include "core/gauge/gauge_tables.h"
#include "core/model/profile.h"

namespace heapgauge {
namespace {

using wire::SegmentKind;

// Sums beyond this are not memory, they are damage.
constexpr double kMaxSum = 1e30;
constexpr int kPeakTries = 4;

std::vector<SampleType> SampleTypesOf(ProfileKind kind) {
  switch (kind) {
    case ProfileKind::kMmap:
      return MmapSampleTypes();
    case ProfileKind::kPool:
      return {{"pool_alloc_objects", "count"},
              {"pool_alloc_space", "bytes"},
              {"pool_objects", "count"},
              {"pool_space", "bytes"}};
    case ProfileKind::kHeap:
      break;
  }
  return HeapSampleTypes();
}

// What marks the stacks of a kind.
uint16_t StackFlagsOf(ProfileKind kind) {
  switch (kind) {
    case ProfileKind::kMmap:
      return wire::kStackOfMappings;
    case ProfileKind::kPool:
      return wire::kStackOfPool;
    case ProfileKind::kHeap:
      break;
  }
  return 0;
}

class GaugeReading {
 public:
  GaugeReading(const ByteSource& source, const std::string& name, const GaugeReadOptions& options)
      : source_(source), name_(name), options_(options) {}

  Result<Profile> Run(const std::string& path_for_state) {
    profile_.sample_types = SampleTypesOf(options_.kind);
    profile_.default_type = kInuseSpace;
    profile_.period_type = {"space", "bytes"};
    HG_ASSIGN(layout_, GaugeLayout::Read(source_, name_));
    if (mmap_) {
      HG_TRY(ReadMappings());
    } else {
      if (pool_) HG_TRY(CheckPools());
      ReadLive();  // for the peak too: the youngest block is a sign of life
      if (options_.peak) HG_TRY(ReadPeak());
    }
    // What the blocks name was written before them, but perhaps after the directory was read.
    HG_ASSIGN(layout_, GaugeLayout::Read(source_, name_));
    ReadStacks();
    HG_ASSIGN(layout_, GaugeLayout::Read(source_, name_));
    unreadable_ += ReadLabels(source_, layout_, label_numbers_, &profile_);
    ReadNodes();
    HG_ASSIGN(layout_, GaugeLayout::Read(source_, name_));
    ReadLocations();
    // The figures are worth having without names.
    const Status names = ReadNames(source_, layout_, name_, &profile_);
    if (!names) profile_.notes.push_back(names.error().message);
    ReadTimeline();
    FinishRecording(path_for_state);
    return std::move(profile_);
  }

 private:
  // While blocks are collected, SampledBlock::row holds the number of the stack in the file.
  void ReadLive() {
    if (options_.live != nullptr) {
      for (const wire::LiveRecord& record : *options_.live) AddLive(record);
      return;
    }
    const SegmentKind kind = pool_ ? SegmentKind::kPoolLive : SegmentKind::kLive;
    unreadable_ += ForEachStable<wire::LiveRecord>(
        source_, layout_, kind, [&](uint32_t, const wire::LiveRecord& record) { AddLive(record); });
  }

  void AddLive(const wire::LiveRecord& record) {
    if (!IsPlausible(record)) {
      ++unreadable_;
      return;
    }
    if (record.birth_ns < layout_.header().reset_ns) return;
    const bool inherited = (record.flags & wire::kLiveInherited) != 0;
    if (options_.inherited == Inherited::kOnly && !inherited) return;
    if (options_.inherited == Inherited::kExclude && inherited) return;
    last_birth_ = std::max(last_birth_, record.birth_ns);
    inherited_ += inherited ? 1 : 0;
    profile_.blocks.push_back({record.stack, record.thread, record.address, record.size,
                               std::max<uint64_t>(record.interval, 1), record.birth_ns, inherited});
  }

  Status CheckPools() const {
    if (options_.peak) {
      return Fail(ErrorCode::kInvalidArgument, "there is no peak of pools; leave out --peak");
    }
    if (layout_.record_count(SegmentKind::kPoolLive) == 0) {
      return Fail(ErrorCode::kUnavailable,
                  "'" + Printable(name_) +
                      "' has no pools: a program reports them by heapgauge_pool() of "
                      "heapgauge/heapgauge.h");
    }
    return {};
  }

  // Mappings are all recorded: as blocks that were sampled with certainty.
  Status ReadMappings() {
    if (options_.peak) {
      return Fail(ErrorCode::kInvalidArgument, "there is no peak of mappings; leave out --peak");
    }
    if (layout_.header().hooks_mappings == 0) {
      return Fail(ErrorCode::kUnavailable,
                  "'" + Printable(name_) +
                      "' has no mappings: they are recorded by heapgauge run --mmap, or with "
                      "HEAPGAUGE_MMAP=1");
    }
    unreadable_ += ForEachStable<wire::MappingRecord>(
        source_, layout_, SegmentKind::kMappings, [&](uint32_t, const wire::MappingRecord& m) {
          wire::LiveRecord record{};
          record.size = m.length;
          if (m.length == 0 || !IsPlausible(record)) {
            ++unreadable_;
            return;
          }
          const bool inherited = (m.flags & wire::kMappingInherited) != 0;
          if (options_.inherited == Inherited::kOnly && !inherited) return;
          if (options_.inherited == Inherited::kExclude && inherited) return;
          last_birth_ = std::max(last_birth_, m.birth_ns);
          inherited_ += inherited ? 1 : 0;
          profile_.blocks.push_back(
              {m.stack, m.thread, m.address, m.length, 1, m.birth_ns, inherited});
        });
    return {};
  }

  // The buffers of the peak take turns: if the header names the same one before and after, it was
  // whole.
  Status ReadPeak() {
    for (int attempt = 0; attempt < kPeakTries; ++attempt) {
      const uint32_t current = layout_.header().peak_current;
      if (current != 1 && current != 2) {
        return Fail(ErrorCode::kUnavailable,
                    "'" + Printable(name_) +
                        "' holds no peak snapshot: the program has not had a "
                        "peak worth keeping yet; leave out --peak");
      }
      const wire::PeakInfo info = layout_.header().peak[current - 1];
      const SegmentKind kind = current == 1 ? SegmentKind::kPeak0 : SegmentKind::kPeak1;
      profile_.blocks.clear();
      inherited_ = 0;
      uint64_t damaged = 0;
      ForEachRecord<wire::PeakRecord>(source_, layout_, kind,
                                      [&](uint32_t, const wire::PeakRecord& peak) {
                                        wire::LiveRecord record{};
                                        record.size = peak.size;
                                        // Also turns away NaN.
                                        if (!(peak.interval >= 0) || !(peak.interval <= 0x1p40F)) {
                                          ++damaged;
                                          return;
                                        }
                                        record.interval = static_cast<uint64_t>(peak.interval);
                                        if (!IsPlausible(record)) {
                                          ++damaged;
                                          return;
                                        }
                                        SampledBlock block;
                                        block.row = peak.stack;
                                        block.size = peak.size;
                                        block.interval = std::max<uint64_t>(record.interval, 1);
                                        profile_.blocks.push_back(block);
                                      });
      HG_ASSIGN(layout_, GaugeLayout::Read(source_, name_));
      const wire::Header& after = layout_.header();
      if (after.peak_current == current && after.peak[current - 1].time_ns == info.time_ns) {
        unreadable_ += damaged;
        return {};
      }
    }
    return Fail(ErrorCode::kUnavailable, "the peak in '" + Printable(name_) +
                                             "' changes faster than it can be read; try again");
  }

  void ReadStacks() {
    const uint32_t count = layout_.record_count(SegmentKind::kStacks);
    std::vector<bool> has_blocks(count);
    for (const SampledBlock& block : profile_.blocks) {
      if (block.row < count) has_blocks[block.row] = true;
    }
    std::vector<RowId> row_of(count, kNone);
    ForEachRecord<wire::StackRecord>(
        source_, layout_, SegmentKind::kStacks, [&](uint32_t index, wire::StackRecord record) {
          if (record.node == 0) return;
          constexpr uint16_t kKinds = wire::kStackOfMappings | wire::kStackOfPool;
          if ((record.flags & kKinds) != StackFlagsOf(options_.kind)) return;
          for (const double sum :
               {record.allocated_objects, record.allocated_bytes, record.allocated_variance}) {
            if (!(sum >= 0) || !(sum <= kMaxSum)) {
              ++unreadable_;
              record.samples = 0;
              record.allocated_objects = record.allocated_bytes = record.allocated_variance = 0;
            }
          }
          if (record.samples == 0 && !has_blocks[index]) return;
          row_of[index] = NewRow(record.node, layout_.has_labels() ? record.labels : uint16_t{0});
          profile_.rows.back().samples = record.samples;
          SetAllocated(row_of[index], record);
        });
    RowId unknown = kNone;  // of blocks whose stack cannot be read: their bytes still count
    for (SampledBlock& block : profile_.blocks) {
      RowId row = block.row < count ? row_of[block.row] : kNone;
      if (row == kNone) {
        if (unknown == kNone) unknown = NewRow(0);
        row = unknown;
        ++unreadable_;
      }
      block.row = row;
      const SampleWeight weight = WeightOf(block.size, block.interval);
      Estimated(row, kInuseObjects).Add(ObjectsEstimate(weight));
      Estimated(row, kInuseSpace).Add(BytesEstimate(block.size, weight));
      ++profile_.rows[row].live_samples;
    }
  }

  RowId NewRow(uint32_t file_node, uint16_t labels = 0) {
    label_numbers_.push_back(labels);
    Row row;
    row.leaf = file_node;  // replaced in ReadNodes
    profile_.rows.push_back(row);
    profile_.estimates.resize(profile_.rows.size() * kHeapTypes);
    return static_cast<RowId>(profile_.rows.size() - 1);
  }

  Estimate& Estimated(RowId row, HeapType type) {
    return profile_.estimates[row * kHeapTypes + type];
  }

  void SetAllocated(RowId row, const wire::StackRecord& record) {
    Estimate& space = Estimated(row, kAllocSpace);
    space.value = record.allocated_bytes;
    space.variance = record.allocated_variance;
    // The single samples are gone; their mean contribution stands for the step.
    // Less than a byte is damage, and would not do to divide by.
    const bool has_bytes = space.value >= 1;
    space.floor = std::min(static_cast<double>(record.sampled_bytes), space.value);
    if (has_bytes) space.step = space.variance / space.value;
    Estimate& objects = Estimated(row, kAllocObjects);
    objects.value = record.allocated_objects;
    if (objects.value >= 1) {
      space.block_variance = std::min(space.variance * (space.value / objects.value), kMaxSum);
    }
    objects.floor = static_cast<double>(record.samples);
    if (has_bytes) {
      const double per_byte = objects.value / space.value;
      objects.variance = std::min(space.variance * per_byte * per_byte, kMaxSum);
      objects.block_variance = objects.variance;
      objects.step = std::min(space.step * per_byte, kMaxSum);
    }
  }

  // Keeps the nodes that some row reaches, renumbered, parents first.
  void ReadNodes() {
    const uint32_t count = layout_.record_count(SegmentKind::kNodes);
    std::vector<wire::NodeRecord> raw(count);
    std::vector<uint16_t> depth(count);  // 0: not usable
    ForEachRecord<wire::NodeRecord>(
        source_, layout_, SegmentKind::kNodes, [&](uint32_t index, const wire::NodeRecord& node) {
          if (index == 0 || node.pc_module == 0 || node.parent >= index) return;
          const uint32_t above = node.parent == 0 ? 0 : depth[node.parent];
          if ((node.parent != 0 && above == 0) || above >= wire::kMaxFrames) return;
          raw[index] = node;
          depth[index] = static_cast<uint16_t>(above + 1);
        });
    std::vector<NodeId> renumbered(count, kNone);
    constexpr NodeId kReached = 0;
    for (const Row& row : profile_.rows) {
      if (row.leaf >= count) continue;
      for (uint32_t at = row.leaf; at != 0 && depth[at] != 0 && renumbered[at] == kNone;
           at = raw[at].parent) {
        renumbered[at] = kReached;
      }
    }
    for (uint32_t i = 1; i < count; ++i) {
      if (options_.every_node && depth[i] != 0) renumbered[i] = kReached;
      if (renumbered[i] == kNone) continue;
      renumbered[i] = static_cast<NodeId>(profile_.nodes.size());
      const bool exact = (raw[i].flags & wire::kNodeExactPc) != 0;
      addresses_.push_back({raw[i].pc_module, exact});
      profile_.nodes.push_back({raw[i].parent == 0 ? kNone : renumbered[raw[i].parent], kNone});
      // The mark is on the outermost node that was reached; every stack through it is cut.
      const NodeId parent = profile_.nodes.back().parent;
      node_truncated_.push_back((raw[i].flags & wire::kNodeTruncated) != 0 ||
                                (parent != kNone && node_truncated_[parent]));
    }
    for (Row& row : profile_.rows) {
      const bool usable = row.leaf != 0 && row.leaf < count && renumbered[row.leaf] != kNone;
      if (row.leaf != 0 && !usable) ++unreadable_;
      row.leaf = usable ? renumbered[row.leaf] : kNone;
      row.truncated = !usable || node_truncated_[row.leaf];
    }
  }

  void ReadLocations() {
    GaugeModules modules = ReadModules(source_, layout_);
    unreadable_ += modules.damaged;
    std::vector<CodeAddress> distinct = addresses_;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    profile_.locations.resize(distinct.size());
    for (size_t i = 0; i < distinct.size(); ++i) {
      Location& location = profile_.locations[i];
      location.address = wire::NodePc(distinct[i].pc_module);
      location.module = FindModule(modules, distinct[i]);
      location.exact = distinct[i].exact;
    }
    for (size_t i = 0; i < addresses_.size(); ++i) {
      const auto it = std::lower_bound(distinct.begin(), distinct.end(), addresses_[i]);
      profile_.nodes[i].location = static_cast<LocationId>(it - distinct.begin());
    }
    profile_.modules = std::move(modules.modules);
  }

  void ReadTimeline() {
    std::vector<TimelinePoint>& points = profile_.timeline;
    unreadable_ += ForEachStable<wire::TimelineRecord>(
        source_, layout_, SegmentKind::kTimeline, [&](uint32_t, const wire::TimelineRecord& r) {
          points.push_back({r.time_ns, r.live_bytes, r.live_objects, r.allocated_bytes,
                            r.freed_bytes, r.resident_bytes, r.samples});
        });
    const auto by_time = [](const TimelinePoint& a, const TimelinePoint& b) {
      return a.time_ns < b.time_ns;
    };
    std::stable_sort(points.begin(), points.end(), by_time);
    // A tick that several levels keep is one point.
    points.erase(std::unique(points.begin(), points.end(),
                             [](const TimelinePoint& a, const TimelinePoint& b) {
                               return a.time_ns == b.time_ns;
                             }),
                 points.end());
  }

  void FinishRecording(const std::string& path_for_state) {
    RecordingFacts& recording = profile_.recording;
    recording = RecordingOf(layout_);
    recording.live_samples = profile_.blocks.size();
    recording.inherited_samples = inherited_;
    recording.unreadable_records = unreadable_;
    recording.is_peak = options_.peak;
    if (mmap_) recording.interval = recording.interval_in_force = 1;
    if (options_.kind != ProfileKind::kHeap) {
      recording.samples = 0;
      for (const Row& row : profile_.rows) recording.samples += row.samples;
      recording.has_peak = false;
    }
    profile_.period = static_cast<int64_t>(recording.interval);
    if (!path_for_state.empty()) {
      FindState(layout_, path_for_state, last_birth_, &recording);
    } else {
      recording.duration_ns = std::max(layout_.header().ended_ns, layout_.header().last_tick_ns);
      if (recording.is_dump) recording.state = RecordingState::kSnapshot;
    }
    // The time a profile is of is when it was taken, not when the program started.
    profile_.time_ns = static_cast<int64_t>(recording.start_unix_ns + recording.duration_ns);
    profile_.duration_ns = static_cast<int64_t>(recording.duration_ns);
    profile_.RoundEstimates();
  }

  const ByteSource& source_;
  const std::string& name_;
  const GaugeReadOptions options_;
  const bool mmap_ = options_.kind == ProfileKind::kMmap;
  const bool pool_ = options_.kind == ProfileKind::kPool;
  GaugeLayout layout_;
  Profile profile_;
  std::vector<uint16_t> label_numbers_;  // of each row: its set of labels in the file
  std::vector<CodeAddress> addresses_;   // of each node
  std::vector<bool> node_truncated_;
  uint64_t unreadable_ = 0;
  uint64_t inherited_ = 0;
  uint64_t last_birth_ = 0;
};

}  // namespace

Result<Profile> ReadGauge(const ByteSource& source, const std::string& name,
                          const GaugeReadOptions& options) {
  return GaugeReading(source, name, options).Run("");
}

Result<Profile> ReadGaugeFile(const std::string& path, const GaugeReadOptions& options) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(Profile profile, GaugeReading(file, path, options).Run(path));
  PutProgramFirst(&profile);
  return profile;
}

}  // namespace heapgauge
