// The parts of Envoy's dialect, for its table of routes and for tests.
//
// Any thread.
#pragma once

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// What was allocated between two profiles of one process: alloc_objects and alloc_space, no live
// figures. After a reset in between: since the reset.
Result<Profile> AllocatedBetween(const Profile& start, const Profile& end);

// GET /memory: where the memory is. As JSON that begins with Envoy's fields, as text that brpc's
// users know, or as a page; memory.cc says how that is decided.
Reply Memory(const Call& call);
// The text alone, with the engines' statistics: ?opts= and ?engine=. Parameters are checked before.
Reply MemoryStatistics(const Call& call);
// GET /memory/tcmalloc: tcmalloc's own statistics.
Reply MemoryTcmalloc(const Call& call);

}  // namespace heapgauge::endpoint
