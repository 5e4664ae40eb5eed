// Totals over time, in the gauge file: see wire::TimelineRecord for the rings.
//
// A tick is taken by whoever is there: the thread that samples when a second has passed, or a
// process outside. Allocation-free, lock-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

// Takes a tick if the last one is a second old. True if it did.
bool TickIfDue(GaugeFile* file, uint64_t now_ns);

void ClearTimeline(GaugeFile* file);

}  // namespace heapgauge::agent
