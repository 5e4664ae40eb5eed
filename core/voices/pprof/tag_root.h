// tagroot and tagleaf: the values of labels as frames at the outer or inner end of every stack, so
// that reports break figures down by thread, request or size as they do by function.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::pprof {

struct TagFrames {
  std::vector<std::string> root_keys;  // the first becomes the outermost frame
  std::vector<std::string> leaf_keys;  // the last becomes the innermost frame
  std::string unit;                    // that numbers are shown in
};

struct TagFrameMatches {
  bool root = false;  // some row has a label of root_keys
  bool leaf = false;
};

// The names of a list separated by commas; empty ones are left out.
std::vector<std::string> SplitKeys(const std::string& list);

// A row without the label gets a frame with an empty name. Fails if a stack would become deeper
// than a profile can hold.
Result<TagFrameMatches> AddTagFrames(const TagFrames& frames, Profile* profile);

}  // namespace heapgauge::pprof
