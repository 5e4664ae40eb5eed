// Shorter forms of readable function names, for columns and for matching. Pure functions.
#ifndef HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_
#define HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_

#include <string>
#include <string_view>

namespace heapgauge {

// The readable form without its parameter list: "ns::Class<int>::Method(int) const" becomes
// "ns::Class<int>::Method". For narrow columns; overloads look alike.
std::string WithoutParameters(std::string_view name);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_SYMBOL_NAME_H_
