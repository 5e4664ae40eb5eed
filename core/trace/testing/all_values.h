// Every figure that a trace can be asked for, for tests.
#pragma once

#include "core/trace/answer/trace_profile.h"

namespace heapgauge::trace::testing {

inline constexpr TraceValue kAllValues[] = {
    TraceValue::kLive,     TraceValue::kPeak,   TraceValue::kAllocated,
    TraceValue::kFreed,    TraceValue::kGrowth, TraceValue::kTemporary,
    TraceValue::kLifetime, TraceValue::kLeft,   TraceValue::kNeverFreed};

}  // namespace heapgauge::trace::testing
