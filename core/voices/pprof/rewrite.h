// How filters take frames out of a location (core/model/keep_rows.h takes rows). Locations are
// shared by all stacks, so that frames taken from one are gone everywhere, as in pprof.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::pprof {

// The frames of a location, innermost first.
std::span<const Frame> FramesOf(const Profile& profile, const Location& location);

// Leaves only frames [first, end) of those a location has. The outermost one left is not inlined
// any more: what it was inlined into is gone.
void CutFrames(uint32_t first, uint32_t end, LocationId location, Profile* profile);

// Leaves only the frames whose `keep` is true, which is called with each of them.
void KeepFrames(const std::function<bool(const Frame&)>& keep, LocationId location,
                Profile* profile);

}  // namespace heapgauge::pprof
