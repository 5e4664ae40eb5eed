#include <algorithm>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/views/top.h"

namespace heapgauge {

std::string TopJson(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options) {
  const RecordingFacts& recording = profile.recording;
  HeapFigures total = report.total;
  total.live_bytes = OrNothingSampled(total.live_bytes, recording);
  Json json = {{"recording", RecordingJson(recording)},
               {"profile", ProfileJson(profile, report.measures)},
               {"total", FiguresJson(total, report.measures, recording)},
               {"selected", FiguresJson(report.selected, report.measures, recording)},
               {"notes", notes},
               {"granularity", GranularityName(report.entities.granularity())},
               {"function_count", report.rows.size()}};
  if (!IsRecorded(recording)) json.Remove("recording");  // of other tools
  const size_t count = std::min(options.rows, report.rows.size());
  std::vector<EntityId> shown;
  for (size_t i = 0; i < count; ++i) shown.push_back(report.rows[i].entity);
  const Labels labels(profile, report.entities, shown, options.names, options.layout);
  Json rows = Json::Array();
  for (size_t i = 0; i < count; ++i) {
    const FunctionRow& row = report.rows[i];
    Json entry = EntityJson(profile, report.entities, row.entity);
    entry["label"] = labels[row.entity];
    if (row.frame != kNone && !report.entities.joins_calls()) {
      entry["line"] = profile.frames[row.frame].line;
    }
    entry["flat"] = FiguresJson(row.flat, report.measures, recording);
    entry["cum"] = FiguresJson(row.cum, report.measures, recording);
    rows.Add(std::move(entry));
  }
  json["functions"] = std::move(rows);
  return json.Text();
}

std::string TopCsv(const Profile& profile, const FunctionReport& report,
                   const TopOptions& options) {
  Csv csv;
  AddFigureHeadings(report.measures, "", &csv);
  AddFigureHeadings(report.measures, "cum_", &csv);
  AddEntityHeadings(&csv);
  csv.EndRow();
  for (size_t i = 0; i < std::min(options.rows, report.rows.size()); ++i) {
    const FunctionRow& row = report.rows[i];
    AddFigures(row.flat, report.measures, &csv);
    AddFigures(row.cum, report.measures, &csv);
    AddEntity(profile, report.entities, row.entity, row.frame, &csv);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
