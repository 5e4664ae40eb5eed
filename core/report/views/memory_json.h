// The memory of a program as JSON: its figures, and the map of its addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/memory/regions.h"
#include "core/report/views/trace_parts.h"
#include "core/trace/answer/heap_layout.h"

namespace heapgauge {

// The memory of a program as a map, as JSON: of a trace the cells that its live blocks lie in and
// who pins them, of a process the regions that it has.
//
// Pure functions.
struct BlockMapInput {
  const trace::PageUse* use = nullptr;
  trace::AddressMap map;
  size_t rows = 100;  // of each table
  // Who holds [start, end), if that was asked.
  uint64_t start = 0;
  uint64_t end = 0;
  std::optional<trace::Holders> holders;
};
std::string BlockMapJson(const TraceSubject& subject, const BlockMapInput& input);

// `profile` has the names of the stacks that regions refer to.
std::string RegionMapJson(const MemorySurvey& survey, const Regions& regions,
                          const Profile& profile);

}  // namespace heapgauge
