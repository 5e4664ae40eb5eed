// Header and directory of a gauge file, checked: where the records of each kind are.
//
// The file is treated as hostile. After Read() has succeeded, every offset that a GaugeLayout gives
// lies inside the file as it was then, and every count is within what the segments can hold. The
// file may change or shrink later; reads are by position and come back short, never with a signal.
//
// A value of about 70 kB; not synchronised. Bounded time: one read of 64 KiB.
#pragma once

#include <array>
#include <cstdint>
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

}  // namespace heapgauge
