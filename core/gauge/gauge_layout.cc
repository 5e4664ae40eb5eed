#include "core/gauge/gauge_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/text.h"

namespace heapgauge {

using wire::SegmentKind;

std::string FieldText(const char* field, size_t size) {
  return Printable(std::string_view(field, strnlen(field, size)));
}

Status GaugeLayout::CheckHeader(const std::string& name) const {
  const auto corrupt = [&](const char* field, size_t offset, uint64_t got,
                           const std::string& want) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("'{}' is damaged: {} at byte {} is {}, it should be {}", name, field,
                            offset, got, want),
                offset);
  };
  const wire::Header& h = header_;
  if (h.segment_bytes != wire::kSegmentBytes) {
    return corrupt("segment size", offsetof(wire::Header, segment_bytes), h.segment_bytes,
                   std::to_string(wire::kSegmentBytes));
  }
  if (h.header_bytes != wire::kHeaderBytes) {
    return corrupt("header size", offsetof(wire::Header, header_bytes), h.header_bytes,
                   std::to_string(wire::kHeaderBytes));
  }
  if (h.segment_count == 0 || h.segment_count > wire::kMaxSegments) {
    return corrupt("segment count", offsetof(wire::Header, segment_count), h.segment_count,
                   fmt::format("1 to {}", wire::kMaxSegments));
  }
  struct Size {
    const char* field;
    size_t offset;
    uint32_t got;
    size_t least;
  };
  const Size sizes[] = {
      {"module size", offsetof(wire::Header, module_bytes), h.module_bytes,
       sizeof(wire::ModuleRecord)},
      {"node size", offsetof(wire::Header, node_bytes), h.node_bytes, sizeof(wire::NodeRecord)},
      {"stack size", offsetof(wire::Header, stack_bytes), h.stack_bytes, sizeof(wire::StackRecord)},
      {"live record size", offsetof(wire::Header, live_bytes), h.live_bytes,
       sizeof(wire::LiveRecord)},
      {"peak record size", offsetof(wire::Header, peak_bytes), h.peak_bytes,
       sizeof(wire::PeakRecord)},
      {"timeline record size", offsetof(wire::Header, timeline_bytes), h.timeline_bytes,
       sizeof(wire::TimelineRecord)},
      {"mapping record size", offsetof(wire::Header, mapping_bytes), h.mapping_bytes,
       sizeof(wire::MappingRecord)},
      {"label record size", offsetof(wire::Header, label_bytes),
       has_labels() ? h.label_bytes : uint32_t{sizeof(wire::LabelRecord)},
       sizeof(wire::LabelRecord)},
  };
  for (const Size& size : sizes) {
    if (size.got < size.least || size.got > wire::kSegmentBytes || size.got % 8 != 0) {
      return corrupt(size.field, size.offset, size.got,
                     fmt::format("a multiple of 8 from {} on", size.least));
    }
  }
  return {};
}

Status GaugeLayout::ReadDirectory(const std::vector<uint8_t>& first_segment,
                                  const ByteSource& source, const std::string& name) {
  // The size is asked for after the directory was read: a file that grows meanwhile only gets
  // larger.
  const uint64_t size = source.Size();
  used_bytes_ = wire::kSegmentBytes;
  for (uint32_t i = 1; i < header_.segment_count; ++i) {
    const size_t offset = wire::kHeaderBytes + i * sizeof(uint32_t);
    uint32_t word = 0;
    std::memcpy(&word, &first_segment[offset], sizeof word);
    const uint32_t kind = wire::DirectoryKind(word);
    const uint32_t ordinal = wire::DirectoryOrdinal(word);
    // Unused: claimed by a thread that has not finished or never will. Unknown kinds: a later
    // version.
    if (kind == static_cast<uint32_t>(SegmentKind::kUnused) || kind >= wire::kSegmentKinds)
      continue;
    if (ordinal >= wire::kMaxSegments) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' is damaged: directory word {} at byte {} has ordinal {}", name,
                              i, offset, ordinal),
                  offset);
    }
    const uint64_t end = (uint64_t{i} + 1) * wire::kSegmentBytes;
    if (end > size) {
      return Fail(
          ErrorCode::kTruncated,
          fmt::format("'{}' is cut short: segment {} needs {} bytes, the file has {}; copy it "
                      "again (heapgauge ctl PID dump makes a whole copy)",
                      name, i, end, size),
          size);
    }
    std::vector<uint32_t>& list = segments_[kind];
    if (list.size() <= ordinal) list.resize(ordinal + 1);
    if (list[ordinal] != 0) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("'{}' is damaged: directory word {} at byte {} repeats segment {}",
                              name, i, offset, list[ordinal]),
                  offset);
    }
    list[ordinal] = i;
    used_bytes_ = std::max(used_bytes_, end);
  }
  return {};
}

Result<GaugeLayout> GaugeLayout::Read(const ByteSource& source, const std::string& raw_name) {
  const std::string name = Printable(raw_name);
  std::vector<uint8_t> first(wire::kSegmentBytes);
  const size_t got = source.ReadAt(0, first.data(), first.size());
  GaugeLayout layout;
  std::memcpy(&layout.header_, first.data(), sizeof(wire::Header));
  const wire::Header& h = layout.header_;

  static constexpr char kNoMagic[sizeof wire::kMagic] = {};
  if (std::memcmp(h.magic, kNoMagic, sizeof h.magic) == 0) {
    return Fail(
        ErrorCode::kUnfinished,
        fmt::format("'{}' has no header yet: its program is still starting or stopped while "
                    "it started; try again, or remove it with heapgauge ps --prune",
                    name),
        0);
  }
  if (std::memcmp(h.magic, wire::kMagic, sizeof h.magic) != 0) {
    return Fail(ErrorCode::kNotRecognized,
                fmt::format("'{}' is not a gauge file (it does not begin with HGAUGE)", name), 0);
  }
  if (got < first.size()) {
    return Fail(
        ErrorCode::kTruncated,
        fmt::format("'{}' is cut short: it ends at byte {} within its header; copy it again", name,
                    got),
        got);
  }
  if (h.version < wire::kOldestVersion || h.version > wire::kVersion) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("'{}' has format version {}, this heapgauge reads versions {} to {}; "
                            "use the heapgauge that belongs to the agent",
                            name, h.version, wire::kOldestVersion, wire::kVersion),
                offsetof(wire::Header, version));
  }
  HG_TRY(layout.CheckHeader(name));
  HG_TRY(layout.ReadDirectory(first, source, name));
  return layout;
}

uint32_t GaugeLayout::record_bytes(SegmentKind kind) const {
  switch (kind) {
    case SegmentKind::kModules:
      return header_.module_bytes;
    case SegmentKind::kNodes:
      return header_.node_bytes;
    case SegmentKind::kStacks:
      return header_.stack_bytes;
    case SegmentKind::kLive:
    case SegmentKind::kPoolLive:
      return header_.live_bytes;
    case SegmentKind::kLabels:
      return has_labels() ? header_.label_bytes : uint32_t{sizeof(wire::LabelRecord)};
    case SegmentKind::kPeak0:
    case SegmentKind::kPeak1:
      return header_.peak_bytes;
    case SegmentKind::kTimeline:
      return header_.timeline_bytes;
    case SegmentKind::kMappings:
      return header_.mapping_bytes;
    case SegmentKind::kNames:
      return 1;
    case SegmentKind::kTrace:
    case SegmentKind::kUnused:
    case SegmentKind::kHeader:
      break;
  }
  return wire::kSegmentBytes;
}

uint32_t GaugeLayout::record_count(SegmentKind kind) const {
  uint32_t claimed = 0;
  switch (kind) {
    case SegmentKind::kModules:
      claimed = header_.module_count;
      break;
    case SegmentKind::kNodes:
      claimed = header_.node_count;
      break;
    case SegmentKind::kStacks:
      claimed = header_.stack_count;
      break;
    case SegmentKind::kLive:
      claimed = header_.live_count;
      break;
    case SegmentKind::kLabels:
      claimed = has_labels() ? std::min(header_.label_count, wire::kMaxLabelSets + 1) : 0;
      break;
    case SegmentKind::kPoolLive:
      claimed = has_labels() ? header_.pool_live_count : 0;
      break;
    case SegmentKind::kPeak0:
      claimed = header_.peak[0].count;
      break;
    case SegmentKind::kPeak1:
      claimed = header_.peak[1].count;
      break;
    case SegmentKind::kTimeline:
      claimed = wire::kTimelineLevels * wire::kTimelineSlots;
      break;
    case SegmentKind::kMappings:
      claimed = header_.mapping_count;
      break;
    case SegmentKind::kNames:
      claimed = header_.names_bytes;
      break;
    case SegmentKind::kTrace:
      claimed = segment_count(kind);  // each buffer tells for itself
      break;
    case SegmentKind::kUnused:
    case SegmentKind::kHeader:
      break;
  }
  const uint64_t room = uint64_t{segment_count(kind)} * records_per_segment(kind);
  return static_cast<uint32_t>(std::min<uint64_t>(claimed, room));
}

std::optional<uint64_t> GaugeLayout::SegmentOffset(SegmentKind kind, uint32_t ordinal) const {
  const std::vector<uint32_t>& list = segments_[static_cast<uint32_t>(kind)];
  if (ordinal >= list.size() || list[ordinal] == 0) return std::nullopt;
  return uint64_t{list[ordinal]} * wire::kSegmentBytes;
}

}  // namespace heapgauge
