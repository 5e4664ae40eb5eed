// Taking frames out of locations, and cutting the inner end of stacks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

// How filters take frames out of a location (core/model/edit_profile.h takes rows). Locations are
// shared by all stacks, so that frames taken from one are gone everywhere, as in pprof.

// The frames of a location, innermost first.
std::span<const Frame> FramesOf(const Profile& profile, const Location& location);

// Leaves only frames [first, end) of those a location has. The outermost one left is not inlined
// any more: what it was inlined into is gone.
void CutFrames(uint32_t first, uint32_t end, LocationId location, Profile* profile);

// Leaves only the frames whose `keep` is true, which is called with each of them.
void KeepFrames(const std::function<bool(const Frame&)>& keep, LocationId location,
                Profile* profile);

// Cutting the inner end of stacks: below the frames that a profile declares uninteresting (the
// allocator itself), or below one that the user names.
//
// Both match the name of a function up to its argument list. No trie is rebuilt: a stack that ends
// earlier is named by another node of the same trie.

// Leaves out the frames that the profile's own drop_frames match in full and keep_frames do not,
// with all they called. A stack that begins with such frames keeps them: something must be left.
Status RemoveUninteresting(Profile* profile);

// The same with given expressions; `keep` may be null.
void Prune(const Regex& drop, const Regex* keep, Profile* profile);

// Leaves out what the innermost frame that matches called, but not the frame itself.
void PruneFrom(const Regex& regex, Profile* profile);

// Leaves out the inner end of stacks as far as it is in libraries that only allocate, with names or
// without. A stack with nothing else keeps it. pprof does not do this; it is for formats that it
// cannot read.
void PruneAllocatorModules(Profile* profile);

// The name without its argument list: cut at the first "(" that does not belong to "(anonymous
// namespace)" or "operator()".
std::string_view NameWithoutArguments(std::string_view name);

}  // namespace heapgauge::pprof
