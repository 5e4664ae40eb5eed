// Whether a regular expression means a function: it matches the name as the compiler has it, with
// parameters and template arguments, or the short one that reports show. So what was read in a
// report can be asked for, whichever form it has there.
//
// For our own reports; pprof's filters look at whole names alone. Safe in several threads.
#pragma once

#include <string_view>

#include "core/base/regex.h"

namespace heapgauge {

bool MatchesFunction(const Regex& pattern, std::string_view name);

}  // namespace heapgauge
