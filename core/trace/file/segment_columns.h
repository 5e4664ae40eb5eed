// Which columns a chunk of kSegment has, for encoder and decoder.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_

#include <cstdint>

namespace heapgauge::trace {

// More than this would make readers ask for too much memory at once.
inline constexpr uint32_t kMaxSegmentEvents = 1 << 20;

enum SegmentColumn : uint16_t {
  kInfoColumn = 1,
  kSumsColumn = 2,
  kKindColumn = 3,
  kTimeColumn = 4,
  kThreadColumn = 5,
  kBirthColumn = 6,
  kDeathColumn = 7,
  kOldColumn = 8,
  kAddressColumn = 9,
  kOldAddressColumn = 10,
  kDetailColumn = 11,
  kOldDetailColumn = 12,
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SEGMENT_COLUMNS_H_
