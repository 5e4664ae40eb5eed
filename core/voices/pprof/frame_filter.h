// pprof's filters by the names of frames: frames taken out of locations, ends of stacks cut, and
// what patterns mean (functions and modules, or an address).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

// How filters take frames out of a location (core/model/profile.h takes rows). Locations are
// shared by all stacks, so that frames taken from one are gone everywhere, as in pprof.

// The frames of a location, innermost first.
std::span<const Frame> FramesOf(const Profile& profile, const Location& location);

// Leaves only frames [first, end) of those a location has. The outermost one left is not inlined
// any more: what it was inlined into is gone.
void CutFrames(uint32_t first, uint32_t end, LocationId location, Profile* profile);

// Leaves only the frames whose `keep` is true, which is called with each of them.
void KeepFrames(const std::function<bool(const Frame&)>& keep, LocationId location,
                Profile* profile);

// Cutting the inner end of stacks: below the frames that a profile declares uninteresting (the
// allocator itself), or below one that the user names.
//
// Both match the name of a function up to its argument list. No trie is rebuilt: a stack that ends
// earlier is named by another node of the same trie.

// Leaves out the frames that the profile's own drop_frames match in full and keep_frames do not,
// with all they called. A stack that begins with such frames keeps them: something must be left.
Status RemoveUninteresting(Profile* profile);

// The same with given expressions; `keep` may be null.
void Prune(const Regex& drop, const Regex* keep, Profile* profile);

// Leaves out what the innermost frame that matches called, but not the frame itself.
void PruneFrom(const Regex& regex, Profile* profile);

// Leaves out the inner end of stacks as far as it is in libraries that only allocate, with names or
// without. A stack with nothing else keeps it. pprof does not do this; it is for formats that it
// cannot read.
void PruneAllocatorModules(Profile* profile);

// The name without its argument list: cut at the first "(" that does not belong to "(anonymous
// namespace)" or "operator()".
std::string_view NameWithoutArguments(std::string_view name);

// The argument of disasm and weblist may be an address instead of a regular expression.
//
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

// pprof's filters by the names of frames: focus and ignore choose rows, hide and show take frames
// away, show_from cuts the outer end of stacks.
//
// An expression matches a frame by its function's name or source file, and a location also by its
// object file. Each location is decided once; a node of the trie inherits from its parent, so a
// million rows cost no more than the nodes they share. The trie is rebuilt only where frames go.
//
// Leaves the rows in whose stack something is in focus and nothing is ignored; then takes hidden
// frames, and those not to be shown, out of all stacks. Rows without any frame go, even if there is
// no filter.
FrameFilterMatches FilterByFrames(const FrameFilter& filter, Profile* profile);

// Cuts off what is further out than the outermost match; rows without a match go. True if anything
// matched.
bool ShowFrom(const Regex& show_from, Profile* profile);

}  // namespace heapgauge::pprof
