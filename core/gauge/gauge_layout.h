// Header and directory of a gauge file, checked: where the records of each kind are, and walks over
// these.
//
// The file is treated as hostile. After Read() has succeeded, every offset that a GaugeLayout gives
// lies inside the file as it was then, and every count is within what the segments can hold. The
// file may change or shrink later; reads are by position and come back short, never with a signal.
//
// A value of about 70 kB; not synchronised. Bounded time: one read of 64 KiB.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge {

class GaugeLayout {
 public:
  // `name` is for messages only.
  static Result<GaugeLayout> Read(const ByteSource& source, const std::string& name);

  const wire::Header& header() const { return header_; }
  // Labels and pools came with version 3.
  bool has_labels() const { return header_.version >= 3; }

  // Distance between records; later versions of the agent may have longer ones than we know.
  uint32_t record_bytes(wire::SegmentKind kind) const;
  uint32_t records_per_segment(wire::SegmentKind kind) const {
    return wire::kSegmentBytes / record_bytes(kind);
  }
  // Records that may have been written: the header's count, cut down to what the segments hold.
  uint32_t record_count(wire::SegmentKind kind) const;
  // Ordinals that may exist; some may be missing in between.
  uint32_t segment_count(wire::SegmentKind kind) const {
    return static_cast<uint32_t>(segments_[static_cast<uint32_t>(kind)].size());
  }
  // Byte offset of a segment, or nothing if it was never written.
  std::optional<uint64_t> SegmentOffset(wire::SegmentKind kind, uint32_t ordinal) const;
  // Bytes from the start of the file to the end of its last segment.
  uint64_t used_bytes() const { return used_bytes_; }

 private:
  Status CheckHeader(const std::string& name) const;
  Status ReadDirectory(const std::vector<uint8_t>& first_segment, const ByteSource& source,
                       const std::string& name);

  wire::Header header_{};
  std::array<std::vector<uint32_t>, wire::kSegmentKinds>
      segments_;  // by kind and ordinal; 0 missing
  uint64_t used_bytes_ = 0;
};

// The text in a fixed field that should be, but need not be, ended by NUL; made printable.
std::string FieldText(const char* field, size_t size);

// Walks over the records of one kind, segment by segment, so that a file of half a gigabyte needs
// one 64-KiB buffer.
//
// Calls fn(index, record) for every record below the count, written or not.
template <typename Record, typename Fn>
void ForEachRecord(const ByteSource& source, const GaugeLayout& layout, wire::SegmentKind kind,
                   Fn fn) {
  const uint32_t count = layout.record_count(kind);
  const uint32_t per_segment = layout.records_per_segment(kind);
  const uint32_t stride = layout.record_bytes(kind);
  std::vector<uint8_t> buffer(wire::kSegmentBytes);
  for (uint32_t first = 0; first < count; first += per_segment) {
    const auto offset = layout.SegmentOffset(kind, first / per_segment);
    if (!offset) continue;
    const size_t got = source.ReadAt(*offset, buffer.data(), buffer.size());
    const uint32_t here = std::min(per_segment, count - first);
    for (uint32_t i = 0; i < here && (size_t{i} + 1) * stride <= got; ++i) {
      Record record;
      std::memcpy(&record, &buffer[size_t{i} * stride], sizeof record);
      fn(first + i, record);
    }
  }
}

// The same for records with a sequence word (LiveRecord, TimelineRecord), which the program may be
// writing at this moment. Each segment is read twice; a record counts if its word is even, not
// zero, and all its bytes are the same in both reads. One that changed is tried again, alone, a few
// times; the number of such tries is bounded for the whole walk, because a hostile file or a
// stopped writer could keep every record unsettled.
//
// Calls fn(index, record) for every valid record; returns how many were left out because they were
// being written, or half-written when the writer died.
template <typename Record, typename Fn>
uint64_t ForEachStable(const ByteSource& source, const GaugeLayout& layout, wire::SegmentKind kind,
                       Fn fn) {
  constexpr int kTriesPerRecord = 4;
  int tries_left = 4096;
  uint64_t unsettled = 0;
  const uint32_t count = layout.record_count(kind);
  const uint32_t per_segment = layout.records_per_segment(kind);
  const uint32_t stride = layout.record_bytes(kind);
  std::vector<uint8_t> one(wire::kSegmentBytes);
  std::vector<uint8_t> two(wire::kSegmentBytes);
  const auto settled = [](const Record& a, const Record& b) {
    return a.state % 2 == 0 && std::memcmp(&a, &b, sizeof(Record)) == 0;
  };
  for (uint32_t first = 0; first < count; first += per_segment) {
    const auto offset = layout.SegmentOffset(kind, first / per_segment);
    if (!offset) continue;
    const size_t got_one = source.ReadAt(*offset, one.data(), one.size());
    const size_t got_two = source.ReadAt(*offset, two.data(), two.size());
    const size_t got = std::min(got_one, got_two);
    const uint32_t here = std::min(per_segment, count - first);
    for (uint32_t i = 0; i < here && (size_t{i} + 1) * stride <= got; ++i) {
      Record a;
      Record b;
      std::memcpy(&a, &one[size_t{i} * stride], sizeof a);
      std::memcpy(&b, &two[size_t{i} * stride], sizeof b);
      if (a.state == 0 && b.state == 0) continue;
      const uint64_t at = *offset + uint64_t{i} * stride;
      for (int n = 0; !settled(a, b) && n < kTriesPerRecord && tries_left > 0; ++n, --tries_left) {
        if (source.ReadAt(at, &a, sizeof a) != sizeof a) break;
        if (source.ReadAt(at, &b, sizeof b) != sizeof b) break;
      }
      if (!settled(a, b)) {
        ++unsettled;
      } else if (a.state != 0) {
        fn(first + i, a);
      }
    }
  }
  return unsettled;
}

}  // namespace heapgauge
