#include <fmt/format.h>

#include <algorithm>

#include "core/base/short_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leak_parts.h"

namespace heapgauge {
namespace {

using leaks::StackFrame;

// "(session_store.cc:16)", "(in libfoo.so)"; as memcheck has it with whole paths of modules.
std::string PlaceOfFrame(const Profile& profile, const StackFrame& frame, bool named, bool whole) {
  const Function* function = FunctionOf(profile, frame);
  const Module* module = ModuleOf(profile, frame);
  const uint64_t address = profile.locations[frame.location].lookup_address();
  if (named && !function->file.empty()) {
    const uint32_t line = profile.frames[frame.frame].line;
    const std::string file = Printable(BaseName(function->file));
    return line != 0 ? fmt::format("({}:{})", file, line) : "(" + file + ")";
  }
  if (module == nullptr || module->path.empty()) {
    return named ? "" : fmt::format("(0x{:x})", address);
  }
  if (whole) return "(in " + Printable(module->path) + ")";
  const std::string file = Printable(BaseName(module->path));
  if (named) return "(in " + file + ")";
  return fmt::format("(in {}+0x{:x})", file, address - module->load_bias);
}

void AddFrame(const Profile& profile, const StackFrame& frame, const std::string& lead,
              const LeaksOptions& options, StyledText* text) {
  const Function* function = FunctionOf(profile, frame);
  const bool named = function != nullptr && !function->placeholder;
  const bool brief = options.names == Names::kShort && !options.valgrind_style;
  std::string name = named ? Printable(function->name) : "???";
  if (named && brief) {
    ShortNameOptions form;
    form.ellipsis = options.layout.ellipsis();
    name = ShortName(name, form);
  }
  const std::string place = PlaceOfFrame(profile, frame, named, options.valgrind_style);
  *text += lead;
  if (options.valgrind_style) {
    *text += fmt::format("0x{:X}: ", profile.locations[frame.location].address);
  }
  if (brief) {
    const size_t width = std::max<size_t>(options.layout.width, 40) - DisplayWidth(lead);
    const size_t taken = DisplayWidth(place) + 1;
    if (DisplayWidth(name) + taken > width) {
      name = TrimName(name, width > taken + 16 ? width - taken : 16, options.layout.ellipsis());
    }
  }
  *text += name;
  if (!place.empty()) text->Add(" " + place, Style::kDim);
  *text += "\n";
}

}  // namespace

void AddLeakStack(const Profile& profile, NodeId leaf, const std::string& indent,
                  const LeaksOptions& options, leaks::AllocationFrames* allocation,
                  StyledText* text) {
  const std::vector<StackFrame> stack = leaks::FramesOf(profile, leaf);
  if (stack.empty()) {
    *text += indent + "at (unknown stack)\n";
    return;
  }
  // memcheck shows malloc itself; people look for what is behind it.
  const size_t first = options.valgrind_style ? 0 : allocation->Count(stack);
  const size_t all = leaks::FramesUpToMain(profile, stack);
  const size_t end = options.frames == 0 ? all : std::min(all, first + options.frames);
  for (size_t i = first; i < end; ++i) {
    AddFrame(profile, stack[i], indent + (i == first ? "at " : "by "), options, text);
  }
  if (end < all && !options.valgrind_style) {
    text->Add(fmt::format("{}{} more (--frames 0 shows all)\n", indent, all - end), Style::kDim);
  }
}

}  // namespace heapgauge
