// Which function of the program a block belongs to: the innermost frame that is neither part of
// allocating nor of the standard libraries. "std::_Hashtable<...>::_M_insert" helps nobody; who
// called it does. The same holds for a program's own wrapper of malloc, which is told by its name
// and by having several callers.
//
// Remembers what it was asked; not synchronised. The profile must outlive it.
#pragma once

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

  // Functions that allocate by their name ("app_alloc", "Pool::Allocate") and do so for several
  // others on these stacks are passed over from here on: those others tell more.
  void PassOverWrappers(const std::vector<NodeId>& leaves);

  // The function's name without parameters; the module and an address where there is no name; "?"
  // for an unknown stack.
  std::string Of(NodeId leaf);

 private:
  enum : uint8_t { kUnasked, kNo, kYes };
  bool IsOwn(FunctionId function);
  bool IsLikeWrapper(FunctionId function);
  // The functions of the program itself on the way from the leaf: wrappers, and what follows them.
  std::vector<FunctionId> InnermostOwn(NodeId leaf);

  const Profile& profile_;
  std::vector<uint8_t> own_;           // by function
  std::vector<uint8_t> like_wrapper_;  // by function
  std::vector<bool> wrapper_;          // by function; empty: none is known
  std::vector<bool> library_;          // by module: allocators and standard libraries
};

}  // namespace heapgauge::leaks
