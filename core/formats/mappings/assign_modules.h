// Gives the locations of a profile their modules, by address, with the results of pprof: the first
// module in the list wins where several overlap; an address below a module but within its offset
// belongs to it, and extends it; what belongs nowhere goes to a module without a name that spans
// everything, so that merging profiles still works.
//
// pprof walks the list for each address. Here a tree over the sorted ends of all ranges answers in
// the logarithm of their number, whatever the overlaps.
#pragma once

#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// `modules` as they were read; they are tidied (mapping_section.h) and become the profile's.
// Locations that have a module already keep it. REQUIRES: the profile has no modules.
void AssignModules(std::vector<Module> modules, Profile* profile);

}  // namespace heapgauge
