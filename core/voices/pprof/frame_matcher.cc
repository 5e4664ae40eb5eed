#include "core/voices/pprof/frame_matcher.h"

#include "core/voices/pprof/rewrite.h"

namespace heapgauge::pprof {

FrameMatcher::FrameMatcher(const Profile& profile, const Regex& regex)
    : profile_(profile),
      regex_(regex),
      functions_(profile.functions.size()),
      modules_(profile.modules.size()) {}

bool FrameMatcher::MatchesFunction(FunctionId id) {
  if (id == kNone) return false;
  uint8_t& answer = functions_[id];
  if (answer == kUnknown) {
    const Function& function = profile_.functions[id];
    answer = regex_.Matches(function.name) || regex_.Matches(function.file) ? kYes : kNo;
  }
  return answer == kYes;
}

bool FrameMatcher::MatchesModule(ModuleId id) {
  if (id == kNone) return false;
  uint8_t& answer = modules_[id];
  if (answer == kUnknown) answer = regex_.Matches(profile_.modules[id].path) ? kYes : kNo;
  return answer == kYes;
}

bool FrameMatcher::MatchesLocation(LocationId id) {
  const Location& location = profile_.locations[id];
  for (const Frame& frame : FramesOf(profile_, location)) {
    if (MatchesFunction(frame.function)) return true;
  }
  return MatchesModule(location.module);
}

}  // namespace heapgauge::pprof
