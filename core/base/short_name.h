// Names of functions as people speak of them. A demangled C++ name repeats every template argument
// and parameter; most of the time "std::vector<…>::push_back" is what one wants to read.
//
// Understands what gcc's and LLVM's demanglers and Rust's write: operators, conversions, lambdas,
// closures, anonymous namespaces, ABI tags, thunks, function templates with their return type,
// functions that return function pointers, "<T as Trait>::method". What is not understood is left
// as it is. Pure functions in time linear in the length of the name; never empty for a name that is
// not empty.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapgauge {

struct ShortNameOptions {
  bool parameters = false;  // keep the parameter lists, their templates folded
  int template_levels = 0;  // keep template arguments of scopes down to this depth
  int own_levels = 0;       // the same of the function's own
  const char* ellipsis = "\u2026";
};

std::string ShortName(std::string_view name, const ShortNameOptions& options = {});

// The name in `width` columns. What goes first are the function's own template arguments, then
// those of its scopes, then outer scopes; the function and its class stay if they can:
// "std::_Rb_tree<K, V>::_Auto_node::_Auto_node<A, B>" becomes "…_Auto_node::_Auto_node<…>". What is
// still too long is cut in its middle.
std::string TrimName(std::string_view name, size_t width, const char* ellipsis = "\u2026");

}  // namespace heapgauge
