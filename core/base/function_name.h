// Readable names of functions, shortened for columns and for matching, and patterns over them.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/base/regex.h"

namespace heapgauge {

// The readable form without its parameter list: "ns::Class<int>::Method(int) const" becomes
// "ns::Class<int>::Method". For narrow columns; overloads look alike.
std::string WithoutParameters(std::string_view name);

// Types without a name are told apart by the lines they are in, which another build may have moved:
// "Work()::{unnamed type, line 6}::operator()()" becomes "Work()::{unnamed type}::operator()()", or
// has `line` in place of it.
std::string WithoutLines(std::string_view name, std::string_view line = "");

// Whether a regular expression means a function: it matches the name as the compiler has it, with
// parameters and template arguments, or the short one that reports show. So what was read in a
// report can be asked for, whichever form it has there.
//
// For our own reports; pprof's filters look at whole names alone. Safe in several threads.
bool MatchesFunction(const Regex& pattern, std::string_view name);

}  // namespace heapgauge
