// The frames of a block's stack, and which function of the program the block belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::leaks {

// The frames of a block's stack one by one, inlined calls included: what records are shown with,
// and what suppressions are matched against.
//
// Pure functions but for AllocationFrames, which remembers what it was asked; single-threaded.
struct StackFrame {
  LocationId location = kNone;
  uint32_t frame = kNone;  // in Profile::frames; kNone: nothing but an address is known
};

// All frames of the stack, innermost first.
std::vector<StackFrame> FramesOf(const Profile& profile, NodeId leaf);

// How many of them to show: what called main is the same for every program.
size_t FramesUpToMain(const Profile& profile, const std::vector<StackFrame>& stack);

// Whether the compiler has put its function into the one outside of it.
bool IsInlined(const Profile& profile, const StackFrame& frame);
// The function of a frame, null if it is not known.
const Function* FunctionOf(const Profile& profile, const StackFrame& frame);
// The module it is in, null if none is known.
const Module* ModuleOf(const Profile& profile, const StackFrame& frame);

// Which frames do nothing but allocate (malloc, operator new, std::allocator).
class AllocationFrames {
 public:
  explicit AllocationFrames(const Profile& profile);

  bool Is(const StackFrame& frame);
  // How many of the innermost frames do so; 0 if all of them would.
  size_t Count(const std::vector<StackFrame>& stack);

 private:
  enum : uint8_t { kUnasked, kNo, kYes };
  const Profile& profile_;
  std::vector<uint8_t> functions_;
  std::vector<bool> modules_;
};

// True for names of the C++ and Rust standard libraries.
bool IsLibraryFunction(std::string_view name);

// Which function of the program a block belongs to: the innermost frame that is neither part of
// allocating nor of the standard libraries. "std::_Hashtable<...>::_M_insert" helps nobody; who
// called it does. The same holds for a program's own wrapper of malloc, which is told by its name
// and by having several callers.
//
// Remembers what it was asked; not synchronised. The profile must outlive it.
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
