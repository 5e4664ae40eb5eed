// Which frames belong to the act of allocating rather than to the program: malloc, operator new,
// the plumbing of std::allocator, the allocator's own library. Reports begin below them; otherwise
// every row would be "malloc".
//
// One list, with reasons, in the .cc file. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// True for a function (name as people read it) whose only job is to get memory for its caller.
bool IsAllocationFunction(std::string_view name);

// True for a library that is nothing but an allocator, or our own agent.
bool IsAllocatorModule(std::string_view path);

// The same list as one regular expression over names without parameters, for formats that carry
// such a list (pprof's drop_frames). Matches whole names.
std::string AllocationFunctionRegex();

// For each location the number of its innermost frames that only allocate (up to all of them). None
// in a profile that is not about memory: who asks where time goes wants to see malloc.
std::vector<uint32_t> CountAllocationFrames(const Profile& profile);

// A frame of a stack: the `k`th of the location at a node.
struct FramePlace {
  NodeId node = kNone;
  uint32_t k = 0;
};
// The frame that flat figures of this row go to; node kNone for an empty stack. `allocation_frames`
// is from CountAllocationFrames().
FramePlace FlatFrame(const Profile& profile, RowId row,
                     const std::vector<uint32_t>& allocation_frames);

}  // namespace heapgauge
