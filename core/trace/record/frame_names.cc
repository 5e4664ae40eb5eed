#include "core/trace/record/frame_names.h"

#include "core/gauge/gauge_names.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

FunctionId FrameNames::FunctionOf(const FrameName& frame) {
  const std::string key = frame.function + '\0' + frame.file;
  const auto next = static_cast<FunctionId>(named_.functions.size());
  const auto [it, added] = functions_.try_emplace(key, next);
  if (added) {
    Function function;
    function.name = frame.function;
    function.file = frame.file;
    named_.functions.push_back(std::move(function));
  }
  return it->second;
}

void FrameNames::Add(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames) {
  if (frames.empty() || !addresses_[exact ? 1 : 0].insert(pc_module).second) return;
  Location location;
  location.address = wire::NodePc(pc_module);
  location.module = wire::NodeModule(pc_module) - 1;  // 0 becomes kNone
  location.exact = exact;
  location.first_frame = static_cast<uint32_t>(named_.frames.size());
  location.frame_count = static_cast<uint32_t>(frames.size());
  bool lines = false;
  for (size_t i = 0; i < frames.size(); ++i) {
    lines |= frames[i].line != 0;
    named_.frames.push_back({FunctionOf(frames[i]), frames[i].line, i + 1 < frames.size()});
  }
  if (location.module != kNone) {
    if (location.module >= named_.modules.size()) named_.modules.resize(location.module + 1);
    named_.modules[location.module].has_functions = true;
    named_.modules[location.module].NoteLines(lines);
  }
  named_.locations.push_back(location);
}

Result<std::string> FrameNames::Encode() const { return EncodeNames(named_); }

}  // namespace heapgauge::trace
