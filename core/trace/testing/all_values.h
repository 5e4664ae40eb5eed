// Every figure that a trace can be asked for, for tests.
#ifndef HEAPGAUGE_CORE_TRACE_TESTING_ALL_VALUES_H_
#define HEAPGAUGE_CORE_TRACE_TESTING_ALL_VALUES_H_

#include "core/trace/answer/trace_profile.h"

namespace heapgauge::trace::testing {

inline constexpr Value kAllValues[] = {Value::kLive,     Value::kPeak,   Value::kAllocated,
                                       Value::kFreed,    Value::kGrowth, Value::kTemporary,
                                       Value::kLifetime, Value::kLeft,   Value::kNeverFreed};

}  // namespace heapgauge::trace::testing

#endif  // HEAPGAUGE_CORE_TRACE_TESTING_ALL_VALUES_H_
