// Function names as pprof's pictures shorten them: without the path of a Go package, without the
// package and parameters of a Java method, without the namespaces of a C++ method.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge::pprof {

// The name as it is if none of these languages is recognised. Takes time linear in its length.
std::string ShortenFunctionName(std::string_view name);

}  // namespace heapgauge::pprof
