// Where an axis has marks and what is written there: round numbers in the unit of the axis.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fold/timeline.h"

namespace heapgauge {

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

}  // namespace heapgauge
