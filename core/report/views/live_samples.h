// `lifetimes` and `stats` of a sampled profile: ages, sizes and threads of the live samples, with
// the ranges that hold the true values, and one line about what such a profile cannot know.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/fold/functions.h"
#include "core/fold/live_samples.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct LiveSamplesOptions {
  Layout layout;
  Names names = Names::kShort;
  size_t rows = 20;
};

// What is shown of them.
struct SampledSubject {
  const Profile& profile;
  const LiveSamples& samples;
  HeapFigures total;               // of the whole profile
  std::vector<std::string> notes;  // what stood in the way of names
};

StyledText AgesText(const SampledSubject& subject, const LiveSamplesOptions& options);
StyledText SampledStatsText(const SampledSubject& subject, const LiveSamplesOptions& options);
// The same figures for both.
std::string LiveSamplesJson(const SampledSubject& subject, const LiveSamplesOptions& options);
// One line for each function and step of ages.
std::string AgesCsv(const SampledSubject& subject, const LiveSamplesOptions& options);

}  // namespace heapgauge
