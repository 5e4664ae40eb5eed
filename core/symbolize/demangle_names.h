// Function names as pprof shows them: demangled, and by default without parameters and template
// arguments, so that overloads and instantiations of a function count as one.
//
// Pure but for the profile that is changed; each function is looked at once.
#pragma once

#include <string>
#include <string_view>

#include "core/model/profile.h"

namespace heapgauge {

enum class DemangleMode {
  kDefault,    // without parameters, return type and template arguments
  kTemplates,  // without parameters and return type
  kFull,
  kMangled,  // as the linker knows them
};

// Names every function of the profile by `mode`. Those whose name differs from the linker's have
// been demangled before and stay as they are, unless `force` is set. Functions before `first` are
// left alone.
void DemangleNames(DemangleMode mode, bool force, Profile* profile, FunctionId first = 0);

// What is shown for a linker's name. A name that looks demangled already is simplified as text.
std::string DemangledName(const std::string& system_name, DemangleMode mode);

// A demangled C++ name without its template arguments, wherever they are. Knows the operators that
// are written with angle brackets. A name that does not add up is returned as it is.
std::string WithoutTemplates(std::string_view name);

}  // namespace heapgauge
