// pprof's filters by the names of frames: focus and ignore choose rows, hide and show take frames
// away, show_from cuts the outer end of stacks.
//
// An expression matches a frame by its function's name or source file, and a location also by its
// object file. Each location is decided once; a node of the trie inherits from its parent, so a
// million rows cost no more than the nodes they share. The trie is rebuilt only where frames go.
#pragma once

#include "core/base/regex.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

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
