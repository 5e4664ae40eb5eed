// One event of a traced program as it goes from its buffer to the matching: decoded, with the thread
// it came from. Plain data.
#pragma once

#include <cstdint>

#include "wire/trace_buffer.h"

namespace heapgauge::trace {

// What an allocation tells beyond a free, as wire::TraceAllocation has it.
struct AllocationDetails {
  uint64_t size = 0;
  uint32_t stack = 0;
  uint16_t slack = 0;
  uint8_t function = 0;
  uint8_t alignment_log2 = 0;
};
static_assert(sizeof(AllocationDetails) == sizeof(wire::TraceAllocation) - sizeof(wire::TraceFree));

// Details of a free mean nothing.
struct MergedEvent : AllocationDetails {
  uint64_t time = 0;    // of the program's clock; the matcher gets nanoseconds since the start
  uint64_t what = 0;    // as in wire::TraceFree
  uint32_t thread = 0;  // index

  wire::TraceEventKind kind() const { return wire::TraceKindOf(what); }
  uint64_t address() const { return wire::TraceAddressOf(what); }
};

}  // namespace heapgauge::trace
