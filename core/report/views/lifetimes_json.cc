#include <vector>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/trace_groups.h"
#include "core/report/views/trace_heading.h"

namespace heapgauge {
namespace {

using trace::BlockCount;

Json CountJson(const BlockCount& count) {
  return {{"blocks", count.blocks}, {"bytes", count.bytes}};
}

Json SumsJson(const trace::LifetimeSums& sums, const trace::LifetimeHistogram& histogram) {
  Json json = {{"blocks", sums.all.blocks},
               {"bytes", sums.all.bytes},
               {"freed_blocks", sums.freed_blocks()},
               {"freed_bytes", sums.all.bytes - sums.never_freed.bytes},
               {"never_freed", CountJson(sums.never_freed)},
               {"temporary", CountJson(sums.temporary)}};
  if (sums.freed_blocks() != 0) {
    json["mean_ns"] = sums.mean_ns();
    json["median_ns"] = histogram.Percentile(0.5);
    json["p90_ns"] = histogram.Percentile(0.9);
    json["p99_ns"] = histogram.Percentile(0.99);
  }
  Json steps = Json::Array();
  for (const BlockCount& step : histogram.steps) steps.Add(CountJson(step));
  json["by_lifetime"] = std::move(steps);
  return json;
}

Json StepsJson() {
  Json list = Json::Array();
  const auto steps = LifetimeSteps();
  for (size_t i = 0; i < steps.size(); ++i) {
    Json step = {{"name", steps[i].name}};
    const bool ends = i < kLongestStep;
    if (i < kNeverFreedStep) step["from_ns"] = i == 0 ? 0 : steps[i - 1].end_ns;
    if (ends) step["below_ns"] = steps[i].end_ns;
    list.Add(std::move(step));
  }
  return list;
}

}  // namespace

std::string LifetimesJson(const TraceSubject& subject, const trace::LifetimeReport& report) {
  Json json = TraceJson(*subject.trace, subject.filter, subject.notes);
  json["by"] = trace::GroupByName(subject.groups->by());
  json["lifetimes"] = StepsJson();
  json["total"] = SumsJson(report.total, report.histogram);
  Json sizes = Json::Array();
  for (size_t i = 0; i < kSizeClasses; ++i) {
    const BlockCount all = report.SizeClass(i);
    if (all.blocks == 0) continue;
    Json cells = Json::Array();
    for (const BlockCount& cell : report.cells[i]) cells.Add(CountJson(cell));
    sizes.Add({{"above", i == 0 ? 0 : SizeClassEnd(i - 1)},
               {"up_to", SizeClassEnd(i)},
               {"blocks", all.blocks},
               {"bytes", all.bytes},
               {"by_lifetime", std::move(cells)}});
  }
  json["sizes"] = std::move(sizes);
  json["groups"] = report.groups;
  Json rows = Json::Array();
  std::vector<uint32_t> shown;
  for (const trace::LifetimeRow& row : report.rows) shown.push_back(row.group);
  const GroupLabels labels(subject, shown, Names::kShort, {});
  for (const trace::LifetimeRow& row : report.rows) {
    Json entry = GroupJson(subject, row.group);
    entry["label"] = labels[row.group];
    entry.Merge(SumsJson(row.sums, row.histogram));
    rows.Add(std::move(entry));
  }
  json["rows"] = std::move(rows);
  return json.Text();
}

std::string LifetimesCsv(const TraceSubject& subject, const trace::LifetimeReport& report) {
  Csv csv;
  AddGroupHeadings(subject, &csv);
  csv.Text("lifetime").Text("blocks").Text("bytes");
  csv.EndRow();
  for (const trace::LifetimeRow& row : report.rows) {
    for (size_t i = 0; i < kLifetimeSteps; ++i) {
      const BlockCount& step = row.histogram.steps[i];
      if (step.blocks == 0) continue;
      AddGroup(subject, row.group, &csv);
      csv.Text(LifetimeSteps()[i].name).Number(step.blocks).Number(step.bytes);
      csv.EndRow();
    }
  }
  return csv.Take();
}

}  // namespace heapgauge
