// How pprof's graphs look in the language of dot: colours, quoting, names over several lines.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/voices/pprof/nodes.h"

namespace heapgauge::pprof {

// Function names as pprof's pictures shorten them: without the path of a Go package, without the
// package and parameters of a Java method, without the namespaces of a C++ method.
//
// The name as it is if none of these languages is recognised. Takes time linear in its length.
std::string ShortenFunctionName(std::string_view name);

// "#b20000" for 1 (all of it), grey for 0, green for -1. A background is pale.
std::string DotColor(double share, bool background);

// For the inside of a quoted string.
std::string DotEscaped(std::string_view text);

// The shortened name, one part in each line.
std::string DotName(const NodeInfo& info);

}  // namespace heapgauge::pprof
