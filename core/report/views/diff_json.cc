#include <algorithm>
#include <vector>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/labels.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/views/diff.h"

namespace heapgauge {
namespace {

Json ChangeJson(const Change& c, const Comparison& made) {
  Json json = {{"kind", ChangeKindName(c.kind)},
               {"before", EstimateJson(c.before)},
               {"after", EstimateJson(c.after)},
               {"change", {{"value", c.change}, {"low", c.range.low}, {"high", c.range.high}}},
               {"beyond_chance", c.beyond_chance}};
  if (made.has_objects) {
    json["objects_before"] = c.objects_before;
    json["objects_after"] = c.objects_after;
  }
  if (made.by_block) {
    json["came"] = EstimateJson(c.came);
    json["went"] = EstimateJson(c.went);
  }
  return json;
}

// The side of a row that still has it.
struct Side {
  const Profile& profile;
  const FunctionReport& report;
  const FunctionRow& row;
};

Side SideOf(const DiffSources& sources, const Comparison& made, const ChangeRow& row) {
  const bool gone = row.in_after == kNone;
  const FunctionReport& report = gone ? made.before : made.after;
  return {gone ? *sources.profiles.front() : *sources.profiles.back(), report,
          report.rows[gone ? row.in_before : row.in_after]};
}

// What the rows that are gone, or all others, are called.
Labels LabelsOf(const DiffSources& sources, const Comparison& made,
                const std::vector<const ChangeRow*>& shown, bool gone, const DiffOptions& options) {
  std::vector<EntityId> entities;
  for (const ChangeRow* row : shown) {
    if (gone != (row->in_after == kNone)) continue;
    entities.push_back(SideOf(sources, made, *row).row.entity);
  }
  return Labels(gone ? *sources.profiles.front() : *sources.profiles.back(),
                gone ? made.before.entities : made.after.entities, std::move(entities),
                options.names, options.layout);
}

}  // namespace

std::string DiffJson(const DiffSources& sources, const Comparison& made,
                     const DiffOptions& options) {
  Json profiles = Json::Array();
  for (size_t i = 0; i < sources.profiles.size(); ++i) {
    Json profile = {{"source", sources.names[i]}, {"figure", made.series[i]}};
    const RecordingFacts& r = sources.profiles[i]->recording;
    if (IsRecorded(r) || r.exact) profile["recording"] = RecordingJson(r);
    profiles.Add(std::move(profile));
  }
  std::vector<const ChangeRow*> shown;
  size_t count = 0;
  for (const ChangeRow& row : made.rows) {
    if (row.figures.kind == ChangeKind::kSame) continue;
    if (options.only_sure && !row.figures.beyond_chance) continue;
    if (++count <= options.rows) shown.push_back(&row);
  }
  const Labels gone = LabelsOf(sources, made, shown, true, options);
  const Labels there = LabelsOf(sources, made, shown, false, options);
  Json rows = Json::Array();
  for (const ChangeRow* row_shown : shown) {
    const ChangeRow& row = *row_shown;
    const Side side = SideOf(sources, made, row);
    Json entry = EntityJson(side.profile, side.report.entities, side.row.entity);
    entry["label"] = (row.in_after == kNone ? gone : there)[side.row.entity];
    entry["place"] =
        side.row.frame == kNone
            ? std::string()
            : PlaceOf(side.profile, side.report.entities.granularity(), side.row.frame);
    if (side.row.frame != kNone && !side.report.entities.joins_calls()) {
      entry["line"] = side.profile.frames[side.row.frame].line;
    }
    entry.Merge(ChangeJson(row.figures, made));
    entry["series"] = row.series;
    rows.Add(std::move(entry));
  }
  const Json json = {{"figure", made.by_allocated ? "alloc_space" : made.after.measures.type},
                     {"unit", made.after.measures.unit},
                     {"granularity", GranularityName(made.after.entities.granularity())},
                     {"same_process", made.same_process},
                     {"by_block", made.by_block},
                     {"profiles", std::move(profiles)},
                     {"notes", sources.notes},
                     {"total", ChangeJson(made.total, made)},
                     {"change_count", count},
                     {"changes", std::move(rows)}};
  return json.Text();
}

std::string DiffCsv(const DiffSources& sources, const Comparison& made) {
  Csv csv;
  csv.Text("kind").Text("before").Text("after").Text("change").Text("change_low");
  csv.Text("change_high").Text("beyond_chance");
  const bool objects = made.has_objects;
  if (objects) csv.Text("objects_before").Text("objects_after");
  if (made.by_block) csv.Text("came").Text("went");
  AddEntityHeadings(&csv);
  if (made.series.size() > 2) {
    for (size_t i = 0; i < made.series.size(); ++i) csv.Text("profile_" + std::to_string(i + 1));
  }
  csv.EndRow();
  for (const ChangeRow& row : made.rows) {
    const Change& c = row.figures;
    csv.Text(ChangeKindName(c.kind)).Number(c.before.value).Number(c.after.value).Number(c.change);
    csv.Number(c.range.low).Number(c.range.high).Text(c.beyond_chance ? "yes" : "no");
    if (objects) csv.Number(c.objects_before).Number(c.objects_after);
    if (made.by_block) csv.Number(c.came.value).Number(c.went.value);
    const Side side = SideOf(sources, made, row);
    AddEntity(side.profile, side.report.entities, side.row.entity, side.row.frame, &csv);
    if (made.series.size() > 2) {
      for (const double value : row.series) csv.Number(value);
    }
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
