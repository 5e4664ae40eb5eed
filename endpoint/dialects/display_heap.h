// /pprof/heap?display=: brpc's short way to a report on its jemalloc heap, in one answer and
// without a page around it.
//
// For the route of /pprof/heap, which hands over whatever has a `display`. Any thread.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/displays.h"

namespace heapgauge::endpoint {

// display=text|svg|flamegraph|stats; extra_options= (below); opts= (letters, of stats); engine=.
Reply DisplayHeap(const Call& call);

// Of inuse_space, inuse_objects, alloc_space, alloc_objects, cum, lines: any number, separated by
// commas or spaces, with or without leading dashes.
Result<DisplayOptions> ParseExtraOptions(std::string_view text);

}  // namespace heapgauge::endpoint
