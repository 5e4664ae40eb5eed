// From a trace to a profile: the live set of any moment, or what happened in a range of time, per
// stack. All reports that know profiles then work on it.
//
// Whole segments between two moments come from their sums, only those at the edges are read event
// by event: a range of any length costs about the same. Filters that look at single blocks (size,
// lifetime, thread) read the segments of the range.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/answer/profile_request.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::trace {

// Gives the locations of a profile their names.
using NameStacks = std::function<void(Profile*)>;

// `name` is called if the filter asks about names; then the profile has them.
Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress = nullptr, const NameStacks& name = {});

}  // namespace heapgauge::trace
