#include "core/leaks/verdict/stack_frames.h"

#include <fmt/format.h>

#include "core/base/function_name.h"
#include "core/base/text.h"
#include "core/fold/frames.h"

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

namespace {

constexpr std::string_view kScopes[] = {
    "std::", "__gnu_cxx::", "alloc::", "core::", "hashbrown::", "__cxxabiv1::"};
constexpr std::string_view kModules[] = {"libc.so", "libc-2", "libstdc++", "libc++", "ld-linux"};

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// By the last part of its name, without template arguments: "alloc" in whatever way it is written.
bool SaysThatItAllocates(std::string_view name) {
  int depth = 0;
  std::string last;
  for (const char c : name) {
    if (c == '>') --depth;
    if (depth == 0) last += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (c == '<') ++depth;
  }
  const size_t scope = last.rfind("::");
  if (scope != std::string::npos) last.erase(0, scope + 2);
  return last.find("alloc") != std::string::npos && last.find("dealloc") == std::string::npos;
}

}  // namespace

bool IsLibraryFunction(std::string_view name) {
  // "<alloc::vec::Vec<T> as ...>::f", and the return type that templates are demangled with.
  while (!name.empty() && (name.front() == '<' || name.front() == '&')) name.remove_prefix(1);
  const auto in_scope = [](std::string_view text) {
    for (const std::string_view scope : kScopes) {
      if (StartsWith(text, scope)) return true;
    }
    return false;
  };
  // The name itself begins behind the last space outside of brackets, before the parameters.
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '[') ++depth;
    if (c == '>' || c == ']') --depth;
    if (c == '(' && depth == 0) break;
    if (c == ' ' && depth == 0 && !StartsWith(name.substr(begin), "operator")) begin = i + 1;
  }
  return in_scope(name.substr(begin));
}

SiteNames::SiteNames(const Profile& profile)
    : profile_(profile),
      own_(profile.functions.size(), kUnasked),
      like_wrapper_(profile.functions.size(), kUnasked) {
  for (const Module& module : profile.modules) {
    bool is_library = IsAllocatorModule(module.path);
    for (const std::string_view name : kModules) {
      is_library = is_library || StartsWith(BaseName(module.path), name);
    }
    library_.push_back(is_library);
  }
}

bool SiteNames::IsOwn(FunctionId function) {
  if (own_[function] == kUnasked) {
    const std::string& name = profile_.functions[function].name;
    own_[function] = IsAllocationFunction(name) || IsLibraryFunction(name) ? kNo : kYes;
  }
  return own_[function] == kYes;
}

bool SiteNames::IsLikeWrapper(FunctionId function) {
  if (like_wrapper_[function] == kUnasked) {
    const std::string name = WithoutParameters(profile_.functions[function].name);
    like_wrapper_[function] = SaysThatItAllocates(name) ? kYes : kNo;
  }
  return like_wrapper_[function] == kYes;
}

std::vector<FunctionId> SiteNames::InnermostOwn(NodeId leaf) {
  std::vector<FunctionId> functions;
  for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
    const Location& location = profile_.locations[profile_.nodes[node].location];
    if (location.module != kNone && library_[location.module]) continue;
    if (location.frame_count == 0) return functions;
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const FunctionId function = profile_.frames[location.first_frame + k].function;
      if (function == kNone || !IsOwn(function)) continue;
      functions.push_back(function);
      if (!IsLikeWrapper(function)) return functions;
    }
  }
  return functions;
}

void SiteNames::PassOverWrappers(const std::vector<NodeId>& leaves) {
  std::vector<FunctionId> caller(profile_.functions.size(), kNone);
  wrapper_.assign(profile_.functions.size(), false);
  for (const NodeId leaf : leaves) {
    const std::vector<FunctionId> functions = InnermostOwn(leaf);
    for (size_t i = 0; i + 1 < functions.size(); ++i) {
      FunctionId& known = caller[functions[i]];
      if (known != kNone && known != functions[i + 1]) wrapper_[functions[i]] = true;
      known = functions[i + 1];
    }
  }
}

std::string SiteNames::Of(NodeId leaf) {
  FunctionId first = kNone;  // that does more than to allocate, for stacks of libraries alone
  for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
    const Location& location = profile_.locations[profile_.nodes[node].location];
    const bool in_library = location.module != kNone && library_[location.module];
    if (location.frame_count == 0 && !in_library) {
      if (location.module == kNone) return fmt::format("{:#x}", location.lookup_address());
      const Module& module = profile_.modules[location.module];
      return fmt::format("{}+{:#x}", Printable(BaseName(module.path)),
                         location.lookup_address() - module.load_bias);
    }
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const FunctionId function = profile_.frames[location.first_frame + k].function;
      if (function == kNone) continue;
      if (!in_library && IsOwn(function)) {
        if (!wrapper_.empty() && wrapper_[function]) {
          if (first == kNone) first = function;
          continue;
        }
        return Printable(WithoutParameters(profile_.functions[function].name));
      }
      if (first == kNone && !IsAllocationFunction(profile_.functions[function].name)) {
        first = function;
      }
    }
  }
  return first == kNone ? "?" : Printable(WithoutParameters(profile_.functions[first].name));
}

}  // namespace heapgauge::leaks
