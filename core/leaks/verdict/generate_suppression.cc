#include "core/leaks/verdict/generate_suppression.h"

#include <string_view>
#include <vector>

#include "core/base/symbol_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/leak_kinds.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/leaks/verdict/valgrind_names.h"

namespace heapgauge::leaks {

std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind) {
  constexpr size_t kFrames = 23;  // Valgrind takes no more, beside that of the allocator
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  const size_t end = FramesUpToMain(profile, stack);
  std::string frames;
  size_t count = 0;
  for (size_t i = 0; i < end && count < kFrames; ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    const Module* module = ModuleOf(profile, stack[i]);
    ++count;
    if (function != nullptr && !function->placeholder) {
      const std::string_view name = SystemName(*function);
      // One frame stands for the function that allocated, whatever that is.
      if (count == 1 && IsAllocator(name)) {
        count = 0;
        continue;
      }
      // What is outside of these has other names there.
      if (PublicName(name) == "clone") break;
      if (IsInlined(profile, stack[i])) {
        // Tools write the arguments of templates in different ways.
        const std::string inlined = InlinedName(*function);
        const size_t arguments =
            inlined.starts_with("operator") ? std::string::npos : inlined.find('<');
        frames += "   fun:" + Printable(inlined.substr(0, arguments)) +
                  (arguments == std::string::npos ? "\n" : "<*\n");
        continue;
      }
      const bool is_below_main = IsBelowMain(name);
      // Valgrind ends a line's text at its end; patterns have no way to quote.
      frames += "   fun:" +
                Printable(is_below_main                ? std::string(kBelowMain)
                          : HasNoLinkerName(*function) ? LocalPattern(*function)
                          : name.starts_with("__")     ? "*" + std::string(PublicName(name))
                                                       : OneOfItsKind(name, '?')) +
                "\n";
      if (is_below_main) break;
    } else if (module != nullptr && !module->path.empty()) {
      frames += "   obj:" + Printable(KernelPath(module->path)) + "\n";
    } else {
      frames += "   obj:*\n";
    }
  }
  if (frames.empty()) return "";
  return std::string("{\n   <insert_a_suppression_name_here>\n   Memcheck:Leak\n") +
         "   match-leak-kinds: " + KindName(kind) + "\n   fun:*\n" + frames + "}\n";
}

std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf) {
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  AllocationFrames allocation(profile);
  for (size_t i = allocation.Count(stack); i < stack.size(); ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    if (function != nullptr && !function->placeholder) {
      return "leak:^" + Printable(WithoutLines(WithoutParameters(function->name), "*")) + "$\n";
    }
    const Module* module = ModuleOf(profile, stack[i]);
    if (module != nullptr && !module->path.empty()) {
      return "leak:^" + Printable(BaseName(module->path)) + "$\n";
    }
  }
  return "";
}

}  // namespace heapgauge::leaks
