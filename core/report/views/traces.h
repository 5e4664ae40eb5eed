// Whole stacks, the heaviest first, each with its figures. Stacks that are the same at the
// granularity asked for are one.
//
// Memory does not grow with what is written. Pure functions but for the sink.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct TracesOptions {
  size_t rows = 10;
  Layout layout;
  SortKey sort = SortKey::kLive;
  RowFilter filter;
  Granularity granularity = Granularity::kLines;
  Names names = Names::kShort;
};

// Stack by stack: all stacks of a profile can be gigabytes of text.
Status WriteTraces(const Profile& profile, const std::vector<std::string>& notes,
                   const TracesOptions& options, const TextLook& look, TextSink* out);
Status WriteTracesJson(const Profile& profile, const TracesOptions& options, TextSink* out);
// One line for each stack, which is the last field: names from the outermost inwards, joined by
// ';'.
Status WriteTracesCsv(const Profile& profile, const TracesOptions& options, TextSink* out);

}  // namespace heapgauge
