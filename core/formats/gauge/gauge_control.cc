#include "core/formats/gauge/gauge_control.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstddef>
#include <cstring>

#include "core/base/process.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_reader.h"
#include "core/formats/gauge/gauge_records.h"

namespace heapgauge {
namespace {

constexpr size_t kControl = offsetof(wire::Header, control);

// Clears in `segment` all records of a kind with sequence words that were not the same twice.
template <typename Record>
void DropUnsettled(const ByteSource& source, const GaugeLayout& layout, wire::SegmentKind kind,
                   std::string* bytes) {
  const uint32_t per_segment = layout.records_per_segment(kind);
  const uint32_t stride = layout.record_bytes(kind);
  for (uint32_t ordinal = 0; ordinal < layout.segment_count(kind); ++ordinal) {
    const auto offset = layout.SegmentOffset(kind, ordinal);
    if (!offset || *offset + wire::kSegmentBytes > bytes->size()) continue;
    for (uint32_t i = 0; i < per_segment; ++i) {
      std::memset(bytes->data() + *offset + uint64_t{i} * stride, 0, sizeof(uint64_t));
    }
  }
  ForEachStable<Record>(source, layout, kind, [&](uint32_t index, const Record& record) {
    const auto offset = layout.SegmentOffset(kind, index / per_segment);
    const uint64_t at = *offset + uint64_t{index % per_segment} * stride;
    if (at + sizeof record <= bytes->size()) {
      std::memcpy(bytes->data() + at, &record, sizeof record);
    }
  });
}

}  // namespace

Result<GaugeControl> GaugeControl::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForUpdate(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  GaugeControl control(std::move(file));
  control.generation_ = layout.header().control.generation;
  return control;
}

template <typename Word>
Status GaugeControl::Change(size_t offset, Word value) {
  HG_TRY(file_.WriteAt(offset, &value, sizeof value));
  uint32_t generation = 0;
  const size_t at = kControl + offsetof(wire::Control, generation);
  if (file_.ReadAt(at, &generation, sizeof generation) != sizeof generation) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  generation_ = generation + 1;
  return file_.WriteAt(at, &generation_, sizeof generation_);
}

Status GaugeControl::SetActive(bool active) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, active), active ? 1 : 0);
}

Status GaugeControl::SetInterval(uint64_t bytes) {
  if (bytes == 0 || bytes > wire::kMaxIntervalBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the interval must be from 1 byte to {}",
                            FormatBytes(static_cast<double>(wire::kMaxIntervalBytes))));
  }
  return Change<uint64_t>(kControl + offsetof(wire::Control, interval), bytes);
}

Status GaugeControl::SetMaxSamplesPerSecond(uint32_t samples) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, max_samples_per_second), samples);
}

Status GaugeControl::RequestReset() {
  const size_t at = kControl + offsetof(wire::Control, reset_requests);
  uint32_t requests = 0;
  if (file_.ReadAt(at, &requests, sizeof requests) != sizeof requests) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  return Change<uint32_t>(at, requests + 1);
}

bool GaugeControl::WaitUntilSeen(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    uint32_t seen = 0;
    const size_t got = file_.ReadAt(offsetof(wire::Header, seen_generation), &seen, sizeof seen);
    // Generations wrap around: compare by distance.
    if (got == sizeof seen && static_cast<int32_t>(seen - generation_) >= 0) return true;
    if (MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 10);
  }
}

Result<std::string> CopyGauge(const std::string& from) {
  HG_ASSIGN(const File source, File::OpenForReading(from));
  constexpr int kRounds = 8;
  std::string bytes;
  for (int round = 0; round < kRounds; ++round) {
    HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(source, from));
    bytes.assign(layout.used_bytes(), '\0');
    source.ReadAt(0, bytes.data(), bytes.size());
    // Blocks first, then what they name, the header with its counts last: all it counts is in the
    // copy.
    DropUnsettled<wire::LiveRecord>(source, layout, wire::SegmentKind::kLive, &bytes);
    DropUnsettled<wire::TimelineRecord>(source, layout, wire::SegmentKind::kTimeline, &bytes);
    for (const wire::SegmentKind kind :
         {wire::SegmentKind::kStacks, wire::SegmentKind::kNodes, wire::SegmentKind::kModules}) {
      for (uint32_t i = 0; i < layout.segment_count(kind); ++i) {
        if (const auto offset = layout.SegmentOffset(kind, i)) {
          source.ReadAt(*offset, bytes.data() + *offset, wire::kSegmentBytes);
        }
      }
    }
    source.ReadAt(0, bytes.data(), wire::kSegmentBytes);
    const auto copy = GaugeLayout::Read(MemorySource(bytes), from);
    if (copy) {
      HG_TRY(ReadGauge(MemorySource(bytes), from));
      return bytes;
    }
    // A file that has grown meanwhile looks cut short in the copy.
    if (copy.error().code != ErrorCode::kTruncated) return tl::unexpected<Error>(copy.error());
  }
  return Fail(ErrorCode::kUnavailable,
              "'" + Printable(from) + "' grows faster than it can be copied; try again");
}

Status DumpGauge(const std::string& from, const std::string& to) {
  HG_ASSIGN(const std::string bytes, CopyGauge(from));
  return WriteWholeFile(to, bytes);
}

}  // namespace heapgauge
