#include "core/report/views/lifetimes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/csv.h"
#include "core/report/draw/heat_map.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/styled_text.h"
#include "core/report/value_text.h"
#include "core/report/views/trace_parts.h"

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

namespace {

using Align = TextTable::Align;

constexpr const char* kUnknown =
    "sampled: only live blocks are known one by one; how long freed ones lived is not "
    "(heapgauge run --trace records it)";
constexpr const char* kUnknownToo =
    "sampled: calls, frees, slack, resizes, churn and pages are not known "
    "(heapgauge run --trace records them)";

std::string Range(const Estimate& estimate) {
  const Interval range = Interval95(estimate);
  return FormatByteRange(range.low, range.high);
}

StyledText Note(const char* text) {
  return StyledText("note: ", Style::kWarning).Add(text).Add("\n");
}

StyledText Rows(const SampledSubject& subject, const LiveSamplesOptions& options) {
  const size_t count = std::min(options.rows, subject.samples.rows.size());
  std::vector<EntityId> shown;
  for (size_t i = 0; i < count; ++i) shown.push_back(subject.samples.rows[i].entity);
  const Entities& entities = subject.samples.entities;
  const Labels labels(subject.profile, entities, shown, options.names, options.layout);
  TextTable table;
  table.Column("live", Align::kRight, 0, Style::kNumber)
      .Column("95 %", Align::kRight, 2, Style::kDim);
  table.Column("samples", Align::kRight, 3).Column("mean age").Column("oldest", Align::kRight, 1);
  table.Column(options.layout.utf8 ? "<1us\u2192age\u2192>1h" : "<1us-age->1h", Align::kLeft, 0,
               Style::kBar);
  table.Column(entities.granularity() == Granularity::kModules ? "module" : "function",
               Align::kLeft);
  for (size_t i = 0; i < count; ++i) {
    const LiveSamples::Row& row = subject.samples.rows[i];
    std::vector<double> ages;
    for (const SampledCount& step : row.by_age) ages.push_back(step.bytes.value);
    table.Row({FormatBytes(row.all.bytes.value), Range(row.all.bytes),
               FormatCount(static_cast<double>(row.all.samples)),
               FormatLifetime(static_cast<double>(row.MeanAge())),
               FormatLifetime(static_cast<double>(row.oldest_ns)),
               HistogramText(ages, options.layout.utf8), labels[row.entity]});
  }
  return table.Text(options.layout);
}

StyledText ByAge(const LiveSamples& samples, const Layout& layout) {
  TextTable table;
  table.Column("age").Column("live", Align::kRight, 0, Style::kNumber);
  table.Column("95 %", Align::kRight, 0, Style::kDim).Column("share").Column("objects");
  table.Column("samples");
  for (size_t i = 0; i < kAgeSteps; ++i) {
    const SampledCount age = samples.Age(i);
    if (age.samples == 0) continue;
    table.Row({LifetimeSteps()[i].name, FormatBytes(age.bytes.value), Range(age.bytes),
               FormatShare(age.bytes.value, samples.total.bytes.value),
               FormatCount(age.objects.value), FormatCount(static_cast<double>(age.samples))});
  }
  return table.Text(layout);
}

HeatMap Map(const LiveSamples& samples) {
  HeatMap map;
  map.title = "live bytes by size and age";
  map.corner = "up to";
  map.columns = LifetimeHeadings();
  map.columns.resize(kAgeSteps);
  map.is_bytes = true;
  size_t first = 0;
  while (first < kSizeClasses && samples.SizeClass(first).samples == 0) ++first;
  size_t end = kSizeClasses;
  while (end > first && samples.SizeClass(end - 1).samples == 0) --end;
  for (size_t i = first; i < end; ++i) {
    map.rows.push_back(SizeClassLabel(i));
    std::vector<double> row;
    for (const SampledCount& cell : samples.cells[i]) row.push_back(cell.bytes.value);
    map.cells.push_back(std::move(row));
  }
  return map;
}

Json CountJson(const SampledCount& count) {
  return {{"bytes", EstimateJson(count.bytes)},
          {"objects", EstimateJson(count.objects)},
          {"samples", count.samples}};
}

}  // namespace

StyledText AgesText(const SampledSubject& subject, const LiveSamplesOptions& options) {
  StyledText text = RecordingText(subject.profile, subject.total, subject.notes, options.layout);
  text += Note(kUnknown);
  text += "\n";
  if (subject.samples.total.samples == 0) return text.Add("No live samples.\n");
  text += HeatMapsText({Map(subject.samples)}, options.layout);
  text += "\n";
  text += ByAge(subject.samples, options.layout);
  text += "\n";
  text += Rows(subject, options);
  if (options.rows < subject.samples.rows.size()) {
    text.Add(fmt::format("{} {} more (-n {} shows all)\n", options.layout.ellipsis(),
                         subject.samples.rows.size() - options.rows, subject.samples.rows.size()),
             Style::kDim);
  }
  return text;
}

StyledText SampledStatsText(const SampledSubject& subject, const LiveSamplesOptions& options) {
  const LiveSamples& samples = subject.samples;
  StyledText text = RecordingText(subject.profile, subject.total, subject.notes, options.layout);
  text += Note(kUnknownToo);
  if (samples.total.samples == 0) return text.Add("\nNo live samples.\n");
  text.Add("\n").Add("Sizes of live blocks", Style::kTitle).Add("\n");
  TextTable sizes;
  sizes.Column("up to").Column("live", Align::kRight, 0, Style::kNumber);
  sizes.Column("95 %", Align::kRight, 0, Style::kDim).Column("share").Column("objects");
  sizes.Column("samples");
  for (size_t i = 0; i < kSizeClasses; ++i) {
    const SampledCount size = samples.SizeClass(i);
    if (size.samples == 0) continue;
    sizes.Row({SizeClassLabel(i), FormatBytes(size.bytes.value), Range(size.bytes),
               FormatShare(size.bytes.value, samples.total.bytes.value),
               FormatCount(size.objects.value), FormatCount(static_cast<double>(size.samples))});
  }
  text += sizes.Text(options.layout);
  text.Add("\n").Add("Threads that allocated live blocks", Style::kTitle).Add("\n");
  TextTable threads;
  threads.Column("thread").Column("live", Align::kRight, 0, Style::kNumber);
  threads.Column("95 %", Align::kRight, 0, Style::kDim).Column("share").Column("samples");
  for (size_t i = 0; i < samples.threads.size() && i < options.rows; ++i) {
    const LiveSamples::Thread& thread = samples.threads[i];
    threads.Row({thread.id == 0 ? "unknown" : std::to_string(thread.id),
                 FormatBytes(thread.all.bytes.value), Range(thread.all.bytes),
                 FormatShare(thread.all.bytes.value, samples.total.bytes.value),
                 FormatCount(static_cast<double>(thread.all.samples))});
  }
  text += threads.Text(options.layout);
  text.Add("\n").Add("Ages of live blocks", Style::kTitle).Add("\n");
  text += ByAge(samples, options.layout);
  return text;
}

std::string LiveSamplesJson(const SampledSubject& subject, const LiveSamplesOptions& options) {
  const LiveSamples& samples = subject.samples;
  Json json = {{"recording", RecordingJson(subject.profile.recording)},
               {"sampled", true},
               {"unknown", kUnknown}};
  json["notes"] = subject.notes;
  json["total"] =
      FiguresJson(subject.total, MeasuresOf(subject.profile), subject.profile.recording);
  json["live"] = CountJson(samples.total);
  Json ages = Json::Array();
  for (size_t i = 0; i < kAgeSteps; ++i) {
    Json age = CountJson(samples.Age(i));
    age["age"] = LifetimeSteps()[i].name;
    ages.Add(std::move(age));
  }
  json["ages"] = std::move(ages);
  Json sizes = Json::Array();
  for (size_t i = 0; i < kSizeClasses; ++i) {
    const SampledCount all = samples.SizeClass(i);
    if (all.samples == 0) continue;
    Json size = {{"above", i == 0 ? 0 : SizeClassEnd(i - 1)}, {"up_to", SizeClassEnd(i)}};
    size.Merge(CountJson(all));
    Json cells = Json::Array();
    for (const SampledCount& cell : samples.cells[i]) cells.Add(CountJson(cell));
    size["by_age"] = std::move(cells);
    sizes.Add(std::move(size));
  }
  json["sizes"] = std::move(sizes);
  Json threads = Json::Array();
  for (const LiveSamples::Thread& thread : samples.threads) {
    Json entry = {{"thread", thread.id}};
    entry.Merge(CountJson(thread.all));
    threads.Add(std::move(entry));
  }
  json["threads"] = std::move(threads);
  Json rows = Json::Array();
  for (size_t i = 0; i < samples.rows.size() && i < options.rows; ++i) {
    const LiveSamples::Row& row = samples.rows[i];
    Json entry = EntityJson(subject.profile, samples.entities, row.entity);
    entry.Merge(CountJson(row.all));
    entry["mean_age_ns"] = row.MeanAge();
    entry["oldest_age_ns"] = row.oldest_ns;
    Json by_age = Json::Array();
    for (const SampledCount& step : row.by_age) by_age.Add(CountJson(step));
    entry["by_age"] = std::move(by_age);
    rows.Add(std::move(entry));
  }
  json["rows"] = std::move(rows);
  return json.Text();
}

std::string AgesCsv(const SampledSubject& subject, const LiveSamplesOptions& options) {
  Csv csv;
  AddEntityHeadings(&csv);
  csv.Text("age")
      .Text("bytes")
      .Text("bytes_low")
      .Text("bytes_high")
      .Text("objects")
      .Text("samples");
  csv.EndRow();
  const LiveSamples& samples = subject.samples;
  for (size_t i = 0; i < samples.rows.size() && i < options.rows; ++i) {
    const LiveSamples::Row& row = samples.rows[i];
    for (size_t step = 0; step < kAgeSteps; ++step) {
      const SampledCount& count = row.by_age[step];
      if (count.samples == 0) continue;
      const Interval range = Interval95(count.bytes);
      AddEntity(subject.profile, samples.entities, row.entity, row.frame, &csv);
      csv.Text(LifetimeSteps()[step].name).Number(count.bytes.value);
      csv.Number(range.low).Number(range.high).Number(count.objects.value).Number(count.samples);
      csv.EndRow();
    }
  }
  return csv.Take();
}

}  // namespace heapgauge
