// The figures of a trace in sections, as text and as JSON: totals, rates, sizes, calls, threads,
// slack, realloc, churn, alignment, large, pages.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_REPORT_STATS_H_
#define HEAPGAUGE_CORE_REPORT_STATS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"
#include "core/report/trace_groups.h"
#include "core/trace/analysis/stats.h"

namespace heapgauge {

struct StatsOptions {
  Layout layout;
  Names names = Names::kShort;
  size_t rows = 10;                   // of each table
  std::vector<std::string> sections;  // empty: all
};

// All sections, in the order of the report.
const std::vector<std::string>& StatsSections();

StyledText StatsText(const TraceSubject& subject, const trace::TraceStats& stats,
                     const trace::StatsRequest& request, const StatsOptions& options);
std::string StatsJson(const TraceSubject& subject, const trace::TraceStats& stats,
                      const trace::StatsRequest& request, const StatsOptions& options);

// How blocks lie over pages at one moment, with the first `rows` of those that pin some.
Json PageUseJson(const TraceSubject& subject, const trace::PageUse& use, size_t rows);

// The name of a wire::AllocationFunction: "malloc", "new[]".
const char* CallName(size_t function);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_STATS_H_
