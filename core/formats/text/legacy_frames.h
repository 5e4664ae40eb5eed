// Which frames reports leave out of profiles in formats that do not say it themselves: the insides
// of allocators, of locks, of the profiler. Regular expressions over whole function names without
// parameters, with the meaning of pprof's own lists, so that its reports come out the same.
#pragma once

#include <string>

#include "core/model/profile.h"

namespace heapgauge {

enum class LegacyKind { kHeap, kJemalloc, kContention, kOther };

// Sets drop_frames and keep_frames.
void SetLegacyFrames(LegacyKind kind, Profile* profile);

}  // namespace heapgauge
