// How pprof's graphs look in the language of dot: colours, quoting, names over several lines.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/voices/pprof/nodes.h"

namespace heapgauge::pprof {

// "#b20000" for 1 (all of it), grey for 0, green for -1. A background is pale.
std::string DotColor(double share, bool background);

// For the inside of a quoted string.
std::string DotEscaped(std::string_view text);

// The shortened name, one part in each line.
std::string DotName(const NodeInfo& info);

}  // namespace heapgauge::pprof
