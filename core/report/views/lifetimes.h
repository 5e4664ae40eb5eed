// How long blocks live, by size and by whom: as text with a heat map, as JSON and as a table for
// spreadsheets. Of sampled profiles, where only live blocks are known: how old these are.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/fold/ages_and_sizes.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/draw/heat_map.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"
#include "core/report/views/trace_parts.h"
#include "core/trace/answer/lifetimes.h"

namespace heapgauge {

struct LifetimeOptions {
  Layout layout;
  Names names = Names::kShort;
  bool bytes = false;  // inline histograms by bytes in place of blocks
};

StyledText LifetimesText(const TraceSubject& subject, const trace::LifetimeReport& report,
                         const LifetimeOptions& options);
std::string LifetimesJson(const TraceSubject& subject, const trace::LifetimeReport& report);
// One line for each row and step of lifetimes.
std::string LifetimesCsv(const TraceSubject& subject, const trace::LifetimeReport& report);

// "16 B", "128 kB": the largest size of a class.
std::string SizeClassLabel(size_t size_class);
// Headings of the steps, in five columns at the most.
std::vector<std::string> LifetimeHeadings();
// What stands above inline histograms: as wide as they are.
const char* LifetimeSparkHeading(bool utf8);

// `lifetimes` and `stats` of a sampled profile: ages, sizes and threads of the live samples, with
// the ranges that hold the true values, and one line about what such a profile cannot know.

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
