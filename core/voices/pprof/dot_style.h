// How pprof's graphs look in the language of dot: colours, quoting, names over several lines.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_VOICES_PPROF_DOT_STYLE_H_
#define HEAPGAUGE_CORE_VOICES_PPROF_DOT_STYLE_H_

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

#endif  // HEAPGAUGE_CORE_VOICES_PPROF_DOT_STYLE_H_
