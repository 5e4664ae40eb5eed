// The picture in a timeline: its axis, its bars, and what its bands are called.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fold/timeline.h"
#include "core/report/styled_text.h"
#include "core/trace/answer/trace_timeline.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// Where an axis has marks and what is written there: round numbers in the unit of the axis.
struct Tick {
  uint64_t at = 0;
  std::string label;
};

// Up to `most` marks within [from, to].
std::vector<Tick> TicksOf(TimeAxis axis, uint64_t from, uint64_t to, size_t most);

// A place on the axis, as exact as a graph of that length can be read: "3.912s", "1m04.5s",
// "121 MB", "1,234,567".
std::string PlaceOn(TimeAxis axis, uint64_t at, uint64_t length);

// "96 MB", "1.25 GB": without the zeros that a round number does not need.
std::string RoundBytes(uint64_t bytes);

// The picture in a timeline: bars of characters over an axis.
//
// Columns are filled up to the least that was live in them; what was live only for a part of the
// column is shaded. So a heap that swings faster than a column can show looks different from one
// that is full.

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

// What the stacks are called whose history a timeline of a trace shows.
// Names the frames of each band, from the one that asked for memory outwards. `stacks` has names.
void NameBands(const trace::TraceFile::Stacks& stacks, trace::TraceTimeline* made);

}  // namespace heapgauge
