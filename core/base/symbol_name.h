// Shorter forms of readable function names, for columns and for matching. Pure functions.
#ifndef HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_
#define HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_

#include <string>
#include <string_view>

namespace heapgauge {

// The readable form without its parameter list: "ns::Class<int>::Method(int) const" becomes
// "ns::Class<int>::Method". For narrow columns; overloads look alike.
std::string WithoutParameters(std::string_view name);

// Template arguments as "<...>": for names that are still too long.
std::string WithoutTemplateArguments(std::string_view name);

// The form that fits `width` columns with the least cut away: parameters, then template arguments,
// then the front of the scope.
std::string FitName(std::string_view name, size_t width);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_
