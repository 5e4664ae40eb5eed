// Cutting the inner end of stacks: below the frames that a profile declares uninteresting (the
// allocator itself), or below one that the user names.
//
// Both match the name of a function up to its argument list. No trie is rebuilt: a stack that ends
// earlier is named by another node of the same trie.
#pragma once

#include <string_view>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

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
