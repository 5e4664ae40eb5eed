#include "core/report/views/lifetimes.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/figures.h"
#include "core/report/text_table.h"
#include "core/report/views/trace_heading.h"

namespace heapgauge {
namespace {

using figures::Bytes;
using figures::Count;
using figures::Real;
using trace::BlockCount;

StyledText Summary(const trace::LifetimeReport& report) {
  const trace::LifetimeSums& t = report.total;
  StyledText text;
  text += HeadingLine("blocks", fmt::format("{} allocated ({}), {} freed", Count(t.all.blocks),
                                            Bytes(t.all.bytes), Count(t.freed_blocks())));
  if (t.freed_blocks() != 0) {
    text += HeadingLine("lifetime", fmt::format("median {}, mean {}, 99 % below {}",
                                                FormatLifetime(report.histogram.Percentile(0.5)),
                                                FormatLifetime(t.mean_ns()),
                                                FormatLifetime(report.histogram.Percentile(0.99))));
    text += HeadingLine("temporary",
                        fmt::format("{} ({} of all, {}) were freed before the next allocation",
                                    Count(t.temporary.blocks),
                                    FormatShare(Real(t.temporary.blocks), Real(t.all.blocks)),
                                    Bytes(t.temporary.bytes)));
  }
  text += HeadingLine("kept", fmt::format("{} blocks ({}) were never freed",
                                          Count(t.never_freed.blocks), Bytes(t.never_freed.bytes)));
  return text;
}

std::vector<HeatMap> Maps(const trace::LifetimeReport& report) {
  std::vector<HeatMap> maps(2);
  maps[0].title = "blocks by size and lifetime";
  maps[1].title = "bytes by size and lifetime";
  maps[1].is_bytes = true;
  for (HeatMap& map : maps) {
    map.corner = "up to";
    map.columns = LifetimeHeadings();
    map.keeps_last = true;
  }
  size_t first = 0;
  while (first < kSizeClasses && report.SizeClass(first).blocks == 0) ++first;
  size_t end = kSizeClasses;
  while (end > first && report.SizeClass(end - 1).blocks == 0) --end;
  for (size_t i = first; i < end; ++i) {
    for (HeatMap& map : maps) {
      map.rows.push_back(SizeClassLabel(i));
      std::vector<double> row;
      for (const BlockCount& cell : report.cells[i]) {
        row.push_back(Real(map.is_bytes ? cell.bytes : cell.blocks));
      }
      map.cells.push_back(std::move(row));
    }
  }
  return maps;
}

StyledText Rows(const TraceSubject& subject, const trace::LifetimeReport& report,
                const LifetimeOptions& options) {
  std::vector<uint32_t> shown;
  for (const trace::LifetimeRow& row : report.rows) shown.push_back(row.group);
  const GroupLabels labels(subject, shown, options.names, options.layout);
  using Align = TextTable::Align;
  TextTable table;
  table.Column("blocks", Align::kRight, 0, Style::kNumber)
      .Column("bytes", Align::kRight, 1)
      .Column("mean", Align::kRight, 5)
      .Column("median", Align::kRight, 2)
      .Column("p99", Align::kRight, 3)
      .Column("temp", Align::kRight, 4)
      .Column("never", Align::kRight, 0)
      .Column(LifetimeSparkHeading(options.layout.utf8), Align::kLeft, 0, Style::kBar)
      .Column(trace::GroupByName(subject.groups->by()), Align::kLeft);
  if (subject.groups->by() == trace::GroupBy::kStack) table.LastIsAStack();
  for (const trace::LifetimeRow& row : report.rows) {
    const trace::LifetimeSums& s = row.sums;
    const bool freed = s.freed_blocks() != 0;
    std::vector<double> steps;
    for (const BlockCount& step : row.histogram.steps) {
      steps.push_back(Real(options.bytes ? step.bytes : step.blocks));
    }
    table.Row({Count(s.all.blocks), Bytes(s.all.bytes), freed ? FormatLifetime(s.mean_ns()) : "-",
               freed ? FormatLifetime(row.histogram.Percentile(0.5)) : "-",
               freed ? FormatLifetime(row.histogram.Percentile(0.99)) : "-",
               FormatShare(Real(s.temporary.blocks), Real(s.all.blocks)),
               FormatShare(Real(s.never_freed.blocks), Real(s.all.blocks)),
               HistogramText(steps, options.layout.utf8), labels[row.group]});
  }
  return table.Text(options.layout);
}

}  // namespace

std::string SizeClassLabel(size_t size_class) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return fmt::format("{} {}", uint64_t{1} << size_class % 10, kUnits[size_class / 10]);
}

std::vector<std::string> LifetimeHeadings() {
  std::vector<std::string> headings;
  for (const LifetimeStep& step : LifetimeSteps()) headings.push_back(step.label);
  return headings;
}

const char* LifetimeSparkHeading(bool utf8) {
  return utf8 ? "<1us\u21921h\u2192never" : "<1us-1h-never";
}

StyledText LifetimesText(const TraceSubject& subject, const trace::LifetimeReport& report,
                         const LifetimeOptions& options) {
  StyledText text = TraceHeading(*subject.trace, subject.filter, subject.notes, options.layout);
  if (report.total.all.blocks == 0) {
    return text.Add(subject.filter.empty() ? "\nNothing was allocated.\n"
                                           : "\nThe filter leaves nothing.\n");
  }
  text += Summary(report);
  text += "\n";
  text += HeatMapsText(Maps(report), options.layout);
  if (report.rows.empty()) return text;
  text += "\n";
  text += Rows(subject, report, options);
  if (report.rows.size() < report.groups) {
    const char* by = trace::GroupByName(subject.groups->by());
    const size_t more = report.groups - report.rows.size();
    text.Add(fmt::format("{} {} more {}{} (-n {} shows all)\n", options.layout.ellipsis(),
                         Count(more), by, more == 1 ? "" : "s", report.groups),
             Style::kDim);
  }
  return text;
}

}  // namespace heapgauge
