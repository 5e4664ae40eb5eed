// Shorter forms of readable function names, for columns and for matching. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge {

// The readable form without its parameter list: "ns::Class<int>::Method(int) const" becomes
// "ns::Class<int>::Method". For narrow columns; overloads look alike.
std::string WithoutParameters(std::string_view name);

// Types without a name are told apart by the lines they are in, which another build may have moved:
// "Work()::{unnamed type, line 6}::operator()()" becomes "Work()::{unnamed type}::operator()()", or
// has `line` in place of it.
std::string WithoutLines(std::string_view name, std::string_view line = "");

}  // namespace heapgauge
