// The figures of a trace in sections, as text and as JSON: totals, rates, sizes, calls, threads,
// slack, realloc, churn, alignment, large, pages.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"
#include "core/report/views/trace_parts.h"
#include "core/trace/answer/stats.h"

namespace heapgauge {

// The sections of `stats`, each a function of the figures. For the .cc files of this folder.

struct StatsOptions {
  Layout layout;
  Names names = Names::kShort;
  size_t rows = 10;                   // of each table
  std::vector<std::string> sections;  // empty: all
};

struct StatsInput {
  const TraceSubject& subject;
  const trace::TraceStats& stats;
  const trace::StatsRequest& request;
  const StatsOptions& options;
};

StyledText TotalsSection(const StatsInput& in);
StyledText RatesSection(const StatsInput& in);
StyledText SizesSection(const StatsInput& in);
StyledText CallsSection(const StatsInput& in);
StyledText ThreadsSection(const StatsInput& in);
StyledText AlignmentSection(const StatsInput& in);
// Tables of functions.
StyledText SlackSection(const StatsInput& in);
StyledText ReallocSection(const StatsInput& in);
StyledText ChurnSection(const StatsInput& in);
StyledText LargeSection(const StatsInput& in);
StyledText PagesSection(const StatsInput& in);

// The groups with the largest figures above 0, at most `rows` of them.
template <typename Figure>
std::vector<uint32_t> RankGroups(const trace::TraceStats& stats, size_t rows,
                                 const Figure& figure) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < stats.groups.size(); ++i) {
    if (figure(stats.groups[i]) > 0) order.push_back(i);
  }
  const size_t kept = std::min(rows, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                    [&](uint32_t a, uint32_t b) {
                      const uint64_t fa = figure(stats.groups[a]);
                      const uint64_t fb = figure(stats.groups[b]);
                      return fa != fb ? fa > fb : a < b;
                    });
  order.resize(kept);
  return order;
}

// What groups are ranked by.
inline uint64_t SlackOf(const trace::GroupStats& g) { return g.slack_bytes; }
inline uint64_t TemporaryOf(const trace::GroupStats& g) { return g.temporary.blocks; }
inline uint64_t LargeOf(const trace::GroupStats& g) { return g.short_large.bytes; }

// The addresses of the blocks are known, at all moments that have blocks.
bool KnowsPlaces(const trace::TraceStats& stats);

// Blocks that realloc made, nobody knows of what: blocks that were left out of the trace have none
// behind them. 0 if nothing was left out.
uint64_t ReallocsOfLeftOut(const trace::TraceFile& trace, const trace::TraceStats& stats);

// "freed before the next allocation", "freed within 10 allocations".
std::string TemporaryText(uint32_t within);

// The name of a wire::AllocationFunction: "malloc", "new[]".
const char* CallName(size_t function);

// All sections, in the order of the report.
const std::vector<std::string>& StatsSections();

StyledText StatsText(const TraceSubject& subject, const trace::TraceStats& stats,
                     const trace::StatsRequest& request, const StatsOptions& options);
std::string StatsJson(const TraceSubject& subject, const trace::TraceStats& stats,
                      const trace::StatsRequest& request, const StatsOptions& options);

// How blocks lie over pages at one moment, with the first `rows` of those that pin some.
Json PageUseJson(const TraceSubject& subject, const trace::PageUse& use, size_t rows);

}  // namespace heapgauge
