// What groups of stacks had live over time, at a few moments of a trace: enough for a small curve
// beside each row of a table.
//
// Where a trace has many segments the moments are ends of segments, so that their sums tell all and
// no event is read; otherwise they are equally far apart. One pass over the trace. Memory: eight
// bytes for each stack, and the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

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

Result<LiveHistory> ReadStackHistory(const TraceFile& trace, const HistoryRequest& request);

}  // namespace heapgauge::trace
