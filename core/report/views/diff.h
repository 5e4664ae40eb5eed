// What changed between profiles, for people and for programs.
//
// Changes that chance explains are dim and marked with "~"; the rest is what happened. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/fold/compare.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct DiffOptions {
  size_t rows = 20;
  Layout layout;
  Names names = Names::kShort;
  bool only_sure = false;   // leave out what chance explains
  bool cumulative = false;  // as the comparison was made
};

// What is compared: the profiles in order, with what people call them.
struct DiffSources {
  std::vector<const Profile*> profiles;
  std::vector<std::string> names;
  std::vector<std::string> notes;
};

// The notes of several sources as one list: those that all of them have once, the others with the
// name of the source that is meant. `notes`: by source.
std::vector<std::string> NotesOfSources(const std::vector<std::string>& names,
                                        const std::vector<std::vector<std::string>>& notes);

StyledText DiffText(const DiffSources& sources, const Comparison& comparison,
                    const DiffOptions& options);
std::string DiffJson(const DiffSources& sources, const Comparison& comparison,
                     const DiffOptions& options);
// All rows, whatever the options say.
std::string DiffCsv(const DiffSources& sources, const Comparison& comparison);

// A figure over time in one column for each value, at the most `width`: the largest is full height.
std::string Sparkline(const std::vector<double>& values, size_t width, bool utf8);

}  // namespace heapgauge
