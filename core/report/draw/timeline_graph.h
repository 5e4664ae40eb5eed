// The picture in a timeline: bars of characters over an axis.
//
// Columns are filled up to the least that was live in them; what was live only for a part of the
// column is shaded. So a heap that swings faster than a column can show looks different from one
// that is full. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fold/timeline.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// Columns to the left of the picture, for labels and the axis itself.
inline constexpr size_t kGutter = 11;

// Markers that have a letter of their own.
inline constexpr size_t kNamedMarkers = 12;

// REQUIRES: one step for each column.
StyledText LiveGraph(const Timeline& timeline, size_t rows, bool utf8);

// One line of bars: a label, then the values as shares of `most`.
StyledText BarLine(std::string_view label, const std::vector<uint64_t>& values, uint64_t most,
                   Style style, bool utf8);

// Resident memory is drawn into the graph, unless it is so much larger that the heap would be flat.
bool ResidentFits(const Timeline& timeline);

}  // namespace heapgauge
