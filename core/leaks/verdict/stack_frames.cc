#include "core/leaks/verdict/stack_frames.h"

#include "core/fold/allocation_frames.h"

namespace heapgauge::leaks {

std::vector<StackFrame> FramesOf(const Profile& profile, NodeId leaf) {
  std::vector<StackFrame> frames;
  for (NodeId node = leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    if (id == kNone) continue;
    const Location& location = profile.locations[id];
    if (location.frame_count == 0) frames.push_back({id, kNone});
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      frames.push_back({id, location.first_frame + k});
    }
  }
  return frames;
}

size_t FramesUpToMain(const Profile& profile, const std::vector<StackFrame>& stack) {
  for (size_t i = stack.size(); i-- > 0;) {
    const Function* function = FunctionOf(profile, stack[i]);
    if (function == nullptr) continue;
    if (function->name == "main" || function->name.compare(0, 5, "main(") == 0) return i + 1;
  }
  return stack.size();
}

bool IsInlined(const Profile& profile, const StackFrame& frame) {
  const Location& location = profile.locations[frame.location];
  return frame.frame != kNone && frame.frame + 1 != location.first_frame + location.frame_count;
}

const Function* FunctionOf(const Profile& profile, const StackFrame& frame) {
  if (frame.frame == kNone) return nullptr;
  const FunctionId function = profile.frames[frame.frame].function;
  return function == kNone ? nullptr : &profile.functions[function];
}

const Module* ModuleOf(const Profile& profile, const StackFrame& frame) {
  const ModuleId module = profile.locations[frame.location].module;
  return module == kNone ? nullptr : &profile.modules[module];
}

AllocationFrames::AllocationFrames(const Profile& profile)
    : profile_(profile), functions_(profile.functions.size(), kUnasked) {
  for (const Module& module : profile.modules) modules_.push_back(IsAllocatorModule(module.path));
}

bool AllocationFrames::Is(const StackFrame& frame) {
  const ModuleId module = profile_.locations[frame.location].module;
  if (module != kNone && modules_[module]) return true;
  if (frame.frame == kNone) return false;
  const FunctionId function = profile_.frames[frame.frame].function;
  if (function == kNone) return false;
  if (functions_[function] == kUnasked) {
    functions_[function] = IsAllocationFunction(profile_.functions[function].name) ? kYes : kNo;
  }
  return functions_[function] == kYes;
}

size_t AllocationFrames::Count(const std::vector<StackFrame>& stack) {
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!Is(stack[i])) return i;
  }
  return 0;
}

}  // namespace heapgauge::leaks
