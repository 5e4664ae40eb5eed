// The heap over time for people: a graph of what was live, resident memory beside it, how much was
// allocated and freed, and the history of single stacks. The same for scripts, as JSON and CSV.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "core/fold/timeline.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct TimelineOptions {
  Layout layout;
  size_t columns = 0;  // of the graph; 0: what the width has room for
  size_t rows = 12;    // of the graph
};

// How many columns the graph will have: a timeline of as many steps is drawn as it is, any other is
// brought to this number.
size_t TimelineColumns(const TimelineOptions& options);

StyledText TimelineText(const Timeline& timeline, const TimelineOptions& options);

std::string TimelineJson(const Timeline& timeline);
std::string TimelineCsv(const Timeline& timeline);

}  // namespace heapgauge
