// Which function of the program a block belongs to: the innermost frame that is neither part of
// allocating nor of the standard libraries. "std::_Hashtable<...>::_M_insert" helps nobody; who
// called it does.
//
// Remembers what it was asked; not synchronised. The profile must outlive it.
#ifndef HEAPGAUGE_CORE_LEAKS_GROWTH_SITE_NAMES_H_
#define HEAPGAUGE_CORE_LEAKS_GROWTH_SITE_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::leaks {

// True for names of the C++ and Rust standard libraries.
bool IsLibraryFunction(std::string_view name);

class SiteNames {
 public:
  explicit SiteNames(const Profile& profile);

  // The function's name without parameters; the module and an address where there is no name; "?"
  // for an unknown stack.
  std::string Of(NodeId leaf);

 private:
  enum : uint8_t { kUnasked, kNo, kYes };
  bool IsOwn(FunctionId function);

  const Profile& profile_;
  std::vector<uint8_t> own_;   // by function
  std::vector<bool> library_;  // by module: allocators and standard libraries
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_GROWTH_SITE_NAMES_H_
