// The frames of a block's stack one by one, inlined calls included: what records are shown with,
// and what suppressions are matched against.
//
// Pure functions but for AllocationFrames, which remembers what it was asked; single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::leaks {

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

}  // namespace heapgauge::leaks
