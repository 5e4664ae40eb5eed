// What each stack has live at places of a trace, in ascending order: the sums of whole segments and
// the events of the last one. One pass for any number of places, eight bytes for each stack.
//
// Not synchronised. The trace must outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Behind the first `events` events of a segment.
struct Place {
  size_t segment = 0;
  uint32_t events = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Whether a block counts, at any time of its life; empty: all heap blocks do.
using BlockChoice = std::function<bool(const Block&)>;

class LiveStacks {
 public:
  // Where not all heap blocks count, every event up to the place is read.
  explicit LiveStacks(const TraceFile& trace, BlockChoice counts = {})
      : trace_(trace), counts_(std::move(counts)), bytes_(trace.stack_count()) {}

  // REQUIRES: not before the place of the last call.
  Status GoTo(const Place& place);

  // By number of the stack.
  const std::vector<uint64_t>& bytes() const { return bytes_; }

  // The stacks that have the most, largest first; not those that have nothing.
  std::vector<uint32_t> Largest(size_t count) const;

 private:
  bool Counts(const Block& block) const { return counts_ ? counts_(block) : !block.is_mapping; }

  const TraceFile& trace_;
  const BlockChoice counts_;
  std::vector<uint64_t> bytes_;
  Place at_;
  bool has_segment_ = false;  // segment_ is the one of at_
  Segment segment_;
  std::vector<StackSums> sums_;
};

}  // namespace heapgauge::trace
