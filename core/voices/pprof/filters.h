// pprof's filters, all of them, in pprof's order: labels become frames (tagroot, tagleaf); focus,
// ignore, hide and show; show_from; tagfocus and tagignore; tagshow and taghide; prune_from.
//
// Takes time in proportion to the nodes, rows and distinct names of the profile.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

// A filter that matches nothing is told in `warnings`, as pprof does on standard error. An
// expression that cannot be compiled is an error.
Status ApplyFilters(const Config& config, Profile* profile, std::vector<std::string>* warnings);

}  // namespace heapgauge::pprof
