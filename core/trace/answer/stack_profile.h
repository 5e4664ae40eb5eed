// Makes a profile of the figures of stacks: rows, types, and the facts that reports open with.
#pragma once

#include "core/model/profile.h"
#include "core/trace/answer/profile_request.h"
#include "core/trace/answer/stack_figures.h"

namespace heapgauge::trace {

// Nodes and locations that no row needs are left out, so that nobody looks for their names.
Result<Profile> ProfileOf(const TraceFile& trace, const TraceFile::Stacks& stacks,
                          const ProfileRequest& request, const StackAnswer& answer);

}  // namespace heapgauge::trace
