// Which functions and modules of a profile a regular expression means. A profile has far fewer of
// these than frames, so each is tried once, when it is first asked for.
//
// The profile must outlive the matcher; names must not change meanwhile. Owned by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/regex.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

class FrameMatcher {
 public:
  FrameMatcher(const Profile& profile, const Regex& regex);

  // By the name of the function or of its source file.
  bool MatchesFunction(FunctionId function);
  // By the path of the object file; kNone matches nothing.
  bool MatchesModule(ModuleId module);
  // By any of its frames or its module.
  bool MatchesLocation(LocationId location);

 private:
  enum Answer : uint8_t { kUnknown, kNo, kYes };

  const Profile& profile_;
  const Regex& regex_;
  std::vector<uint8_t> functions_;
  std::vector<uint8_t> modules_;
};

}  // namespace heapgauge::pprof
