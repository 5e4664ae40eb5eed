// The blocks that were live at one moment of a trace, with their addresses: what questions about
// the layout of the heap start from. The moment is a place in the order of events, so also among
// events of the same nanosecond the answer is exact.
//
// Memory: 16 bytes for each block that is live then. A LiveMoment is read-only once made; several
// threads may ask it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

class LiveMoment {
 public:
  // What MomentWithin takes.
  static Result<LiveMoment> Find(const TraceFile& trace, const std::string& text,
                                 Mappings mappings = false);

  uint64_t time_ns() const { return time_ns_; }
  // Segments before this one hold no block that was live then.
  size_t segment() const { return segment_; }
  // Whether a segment may hold one.
  bool Concerns(const TraceFile& trace, size_t segment) const;
  // Whether a block that died in this segment, at this index of it, was live at the moment.
  bool WasLive(size_t segment, size_t index, const Block& block) const {
    if (segment < segment_ || block.number >= born_) return false;
    // The file may have changed since.
    return segment != segment_ || (index < dead_.size() && !dead_[index]);
  }
  // The same for a block that is live at the end of the trace.
  bool WasLive(const Block& survivor) const { return survivor.number < born_; }

 private:
  uint64_t time_ns_ = 0;
  size_t segment_ = 0;
  uint64_t born_ = 0;       // blocks with smaller numbers were born by then
  std::vector<bool> dead_;  // by index in the segment: was dead by then
};

struct PlacedBlock {
  uint64_t address = 0;
  uint32_t packed_size = 0;
  uint32_t group = 0;

  // Sizes from 2 GiB on are rounded up to multiples of 64 KiB.
  static PlacedBlock Make(const Block& block, uint32_t group);
  uint64_t size() const {
    return packed_size < kLarge ? packed_size : uint64_t{packed_size - kLarge} << 16;
  }

 private:
  static constexpr uint32_t kLarge = uint32_t{1} << 31;
};
static_assert(sizeof(PlacedBlock) == 16);

}  // namespace heapgauge::trace
