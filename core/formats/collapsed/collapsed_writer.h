// Writes a profile as collapsed stacks: one line for each stack, frames from the outermost to the
// innermost joined by ';', then a space and a value. Flame graph scripts and speedscope read it.
//
// A pure function of the profile. Lines are sorted, equal stacks are merged, so that outputs
// compare.
#ifndef HEAPGAUGE_CORE_FORMATS_COLLAPSED_COLLAPSED_WRITER_H_
#define HEAPGAUGE_CORE_FORMATS_COLLAPSED_COLLAPSED_WRITER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// `type` is an index into the profile's sample types; `selected` says which rows, empty for all.
// `frame_names` has a name for each of the profile's frames, empty: the functions' names without
// parameters. Neighbours with the same name are one frame if `join` says so.
std::string WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected,
                           std::vector<std::string> frame_names = {}, bool join = false);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FORMATS_COLLAPSED_COLLAPSED_WRITER_H_
