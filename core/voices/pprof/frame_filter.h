// pprof's filters by the names of frames, and what their patterns mean: functions and modules, or
// an address.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

// The argument of disasm and weblist may be an address instead of a regular expression.

// "0x401136", or decimal; nothing if it is no number.
inline std::optional<uint64_t> AddressOfPattern(std::string_view pattern) {
  int base = 10;
  if (pattern.starts_with("0x") || pattern.starts_with("0X")) {
    pattern.remove_prefix(2);
    base = 16;
  } else if (pattern.starts_with('0') && pattern.size() > 1) {
    base = 8;
  }
  return NumberIn<uint64_t>(pattern, base);
}

// Which functions and modules of a profile a regular expression means. A profile has far fewer of
// these than frames, so each is tried once, when it is first asked for.
//
// The profile must outlive the matcher; names must not change meanwhile. Owned by one thread.

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

// pprof's filters by the names of frames: focus and ignore choose rows, hide and show take frames
// away, show_from cuts the outer end of stacks.
//
// An expression matches a frame by its function's name or source file, and a location also by its
// object file. Each location is decided once; a node of the trie inherits from its parent, so a
// million rows cost no more than the nodes they share. The trie is rebuilt only where frames go.

// Expressions that are not given are null.
struct FrameFilter {
  const Regex* focus = nullptr;
  const Regex* ignore = nullptr;
  const Regex* hide = nullptr;
  const Regex* show = nullptr;
};

// Which of them matched anything at all.
struct FrameFilterMatches {
  bool focus = false;
  bool ignore = false;
  bool hide = false;
  bool show = false;
};

// Leaves the rows in whose stack something is in focus and nothing is ignored; then takes hidden
// frames, and those not to be shown, out of all stacks. Rows without any frame go, even if there is
// no filter.
FrameFilterMatches FilterByFrames(const FrameFilter& filter, Profile* profile);

// Cuts off what is further out than the outermost match; rows without a match go. True if anything
// matched.
bool ShowFrom(const Regex& show_from, Profile* profile);

}  // namespace heapgauge::pprof
