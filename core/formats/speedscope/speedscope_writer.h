// Writes a profile for speedscope's viewer: its JSON file format, with one "sampled" profile for
// each sample type.
//
// Written piece by piece; memory does not grow with the profile.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"

namespace heapgauge {

struct SpeedscopeOptions {
  std::vector<bool> selected;            // which rows; empty for all
  std::vector<std::string> frame_names;  // one for each frame of the profile
  size_t shown = 0;                      // the sample type that is shown first
  std::string exporter;                  // who wrote the file
};

// Frames with the same name and file are one. What is not positive cannot be drawn and is left out.
Status WriteSpeedscope(const Profile& profile, const SpeedscopeOptions& options, TextSink* out);

}  // namespace heapgauge
