// What stacks have live at positions of a trace, and groups of them over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/answer/trace_position.h"
#include "core/trace/file/block.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// Whether a block counts, at any time of its life; empty: all heap blocks do.
using BlockChoice = std::function<bool(const Block&)>;

// What each stack has live at positions of a trace, in ascending order: the sums of whole segments
// and the events of the last one. One pass for any number of positions, eight bytes for each stack.
//
// Not synchronised. The trace must outlive the object.
class LiveStacks {
 public:
  // Where not all heap blocks count, every event up to the position is read.
  explicit LiveStacks(const TraceFile& trace, BlockChoice counts = {})
      : trace_(trace), counts_(std::move(counts)), bytes_(trace.stack_count()) {}

  // REQUIRES: not before the position of the last call.
  Status GoTo(const Position& at);

  // By number of the stack.
  const std::vector<uint64_t>& bytes() const { return bytes_; }

  // The stacks that have the most, largest first; not those that have nothing.
  std::vector<uint32_t> Largest(size_t count) const;

 private:
  bool Counts(const Block& block) const { return counts_ ? counts_(block) : !block.is_mapping; }

  const TraceFile& trace_;
  const BlockChoice counts_;
  std::vector<uint64_t> bytes_;
  Position at_;
  bool has_segment_ = false;  // segment_ is the one of at_
  Segment segment_;
  std::vector<StackSums> sums_;
};

struct HistoryRequest {
  uint64_t from_ns = 0;
  uint64_t to_ns = UINT64_MAX;  // the end
  size_t points = 40;           // at least 2
  size_t groups = 0;
  // A stack may be in several groups, once in each. By number of the stack.
  struct Member {
    uint32_t stack = 0;
    uint32_t group = 0;
  };
  std::vector<Member> members;
};

struct LiveHistory {
  std::vector<uint64_t> times_ns;            // ascending
  std::vector<std::vector<uint64_t>> bytes;  // live, by group and moment; heap blocks only
};

// What groups of stacks had live over time, at a few moments of a trace: enough for a small curve
// beside each row of a table.
//
// Where a trace has many segments the moments are ends of segments, so that their sums tell all and
// no event is read; otherwise they are equally far apart. One pass over the trace. Memory: eight
// bytes for each stack, and the result.
Result<LiveHistory> ReadStackHistory(const TraceFile& trace, const HistoryRequest& request);

}  // namespace heapgauge::trace
