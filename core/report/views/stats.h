// The figures of a trace in sections, as text and as JSON: totals, rates, sizes, calls, threads,
// slack, realloc, churn, alignment, large, pages.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/report/views/stats_sections.h"

namespace heapgauge {

// All sections, in the order of the report.
const std::vector<std::string>& StatsSections();

StyledText StatsText(const TraceSubject& subject, const trace::TraceStats& stats,
                     const trace::StatsRequest& request, const StatsOptions& options);
std::string StatsJson(const TraceSubject& subject, const trace::TraceStats& stats,
                      const trace::StatsRequest& request, const StatsOptions& options);

// How blocks lie over pages at one moment, with the first `rows` of those that pin some.
Json PageUseJson(const TraceSubject& subject, const trace::PageUse& use, size_t rows);

}  // namespace heapgauge
