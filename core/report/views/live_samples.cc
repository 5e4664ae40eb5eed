#include "core/report/views/live_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fold/interval.h"
#include "core/report/csv.h"
#include "core/report/draw/heat_map.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/text_table.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/trace_heading.h"

namespace heapgauge {
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
