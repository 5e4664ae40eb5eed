#include <fmt/format.h>

#include <array>
#include <cmath>
#include <unordered_map>

#include "core/base/text.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leaks.h"

namespace heapgauge {
namespace {

using leaks::StackFrame;

// As memcheck's --xtree-leak has them, which kcachegrind shows under these names.
constexpr const char* kEvents =
    "event: RB : Reachable Bytes\n"
    "event: PB : Possibly lost Bytes\n"
    "event: IB : Indirectly lost Bytes\n"
    "event: DB : Definitely lost Bytes (direct plus indirect)\n"
    "event: DIB : Definitely Indirectly lost Bytes (subset of DB)\n"
    "event: RBk : reachable Blocks\n"
    "event: PBk : Possibly lost Blocks\n"
    "event: IBk : Indirectly lost Blocks\n"
    "event: DBk : Definitely lost Blocks\n"
    "events: RB PB IB DB DIB RBk PBk IBk DBk\n";
using XtreeCosts = std::array<double, 9>;

XtreeCosts CostsOf(const leaks::LossRecord& record) {
  XtreeCosts costs{};
  const auto kind = static_cast<size_t>(record.kind);
  costs[kind] = record.own.bytes.value;
  costs[5 + kind] = record.own.blocks.value;
  if (record.kind == leaks::Kind::kDefinite) {
    costs[3] += record.indirect.bytes.value;
    costs[4] = record.indirect.bytes.value;
  }
  return costs;
}

std::string CostLine(const std::string& position, const XtreeCosts& costs) {
  std::string text = position;
  for (const double cost : costs) text += fmt::format(" {:.0f}", std::max(std::round(cost), 0.0));
  return text + "\n";
}

// Names are written out once; later the number is enough.
class XtreeNames {
 public:
  std::string operator()(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, numbers_.size() + 1);
    return is_new ? fmt::format("({}) {}", at->second, name) : fmt::format("({})", at->second);
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

struct XtreeFrame {
  std::string file;
  std::string function;
  uint32_t line = 0;
};

XtreeFrame XtreeFrameOf(const Profile& profile, const StackFrame& at) {
  XtreeFrame frame;
  const Function* function = FunctionOf(profile, at);
  const Module* module = ModuleOf(profile, at);
  if (function != nullptr && !function->placeholder) {
    frame.function = Printable(function->name);
    frame.file = Printable(function->file);
    frame.line = profile.frames[at.frame].line;
  } else {
    const uint64_t address = profile.locations[at.location].lookup_address();
    frame.function = module == nullptr ? fmt::format("{:#x}", address)
                                       : fmt::format("{}+{:#x}", Printable(BaseName(module->path)),
                                                     address - module->load_bias);
  }
  if (frame.file.empty()) frame.file = "???";
  return frame;
}

}  // namespace

Status WriteLeaksXtree(const LeaksSubject& subject, TextSink* out) {
  const leaks::Check& check = *subject.check;
  HG_TRY(
      out->Write(fmt::format("# callgrind format\nversion: 1\ncreator: heapgauge\npid: {}\n"
                             "cmd: {}\n\npositions: line\n{}\n",
                             check.pid, Printable(check.command_line), kEvents)));
  XtreeNames files;
  XtreeNames functions;
  XtreeCosts totals{};
  for (const leaks::LossRecord& record : subject.losses->records) {
    if (record.suppressed() || check.look == leaks::Look::kNone) continue;
    const XtreeCosts costs = CostsOf(record);
    for (size_t i = 0; i < costs.size(); ++i) totals[i] += costs[i];
    const NodeId leaf = check.known.stacks[record.stack].leaf;
    const std::vector<StackFrame> stack = leaks::FramesOf(check.known.profile, leaf);
    std::string text;
    for (size_t i = leaks::FramesUpToMain(check.known.profile, stack); i-- > 0;) {
      const XtreeFrame frame = XtreeFrameOf(check.known.profile, stack[i]);
      text += "fl=" + files(frame.file) + "\nfn=" + functions(frame.function) + "\n";
      if (i == 0) {
        text += CostLine(std::to_string(frame.line), costs);
        break;
      }
      const XtreeFrame callee = XtreeFrameOf(check.known.profile, stack[i - 1]);
      text += fmt::format("{}\ncfi={}\ncfn={}\ncalls=0 {}\n", frame.line, files(callee.file),
                          functions(callee.function), callee.line);
      text += CostLine(std::to_string(frame.line), costs);
    }
    if (stack.empty()) {
      text = "fl=" + files("???") + "\nfn=" + functions("(unknown stack)") + "\n" +
             CostLine("0", costs);
    }
    HG_TRY(out->Write(text + "\n"));
  }
  return out->Write(CostLine("totals:", totals));
}

}  // namespace heapgauge
