// The dialect of gperftools and brpc: /pprof/heap, growth, cmdline, symbol. What stands here is the
// text that the perl clients and Go's pprof all read; docs/endpoints.md has the rules.
//
// Pure functions but for the routes.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::endpoint {

// The live heap. Behind the first line, lines that begin with '#' tell about the recording.
Result<std::string> HeapPage(const Profile& profile);

// All allocations since the start or the last reset; what was freed is not taken off.
Result<std::string> GrowthPage(const Profile& profile);

// The arguments of the program, `between` them. Never empty.
std::string CommandLine(const RecordingFacts& recording, char between);

// The first line with figures for allocations that differ from those in use: where they do not,
// Go's pprof leaves them out, and the perl clients take the profile for a sampled one.
std::string TellApart(std::string text);

}  // namespace heapgauge::endpoint
