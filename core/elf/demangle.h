// Linker names as people write them, for C++ and (legacy) Rust. Pure functions.
#pragma once

#include <string>

namespace heapgauge {

// The readable form, or the name itself if it is not mangled. Symbol versions (name@@V) are cut
// off.
std::string Demangle(const std::string& name);

// The same without the function's parameters, qualifiers and return type. Symbol versions stay.
std::string DemangleWithoutParameters(const std::string& name);

}  // namespace heapgauge
