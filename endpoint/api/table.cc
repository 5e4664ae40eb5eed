// GET api/v1/table: who holds the memory, a page of the table that `heapgauge top` prints.

#include "core/report/labels.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/table_rows.h"

namespace heapgauge::endpoint::api {
namespace {

Result<std::string> AnswerTable(const Call& call, const Filter& filter) {
  HG_ASSIGN(const TablePage page, TablePageOf(call, filter));
  const Subject::Table& table = *page.table;
  const Profile& profile = *page.looked.subject->profile();
  const RecordingFacts& recording = profile.recording;
  const FunctionReport& report = table.report;
  HeapFigures total = report.total;
  total.live_bytes = OrNothingSampled(total.live_bytes, recording);
  std::vector<EntityId> shown;
  for (const uint32_t i : page.rows) shown.push_back(report.rows[i].entity);
  const Labels labels(profile, report.entities, shown,
                      filter.names == "whole" ? Names::kWhole : Names::kShort, Layout());
  Json rows = Json::Array();
  for (const uint32_t i : page.rows) {
    const FunctionRow& row = report.rows[i];
    Json entry = EntityJson(profile, report.entities, row.entity);
    entry["label"] = labels[row.entity];
    entry["place"] = row.frame == kNone
                         ? std::string()
                         : PlaceOf(profile, report.entities.granularity(), row.frame);
    if (row.frame != kNone && !report.entities.joins_calls()) {
      entry["line"] = profile.frames[row.frame].line;
    }
    entry["flat"] = FiguresJson(row.flat, report.measures, recording);
    if (table.has_cum) entry["cum"] = FiguresJson(row.cum, report.measures, recording);
    rows.Add(std::move(entry));
  }
  Json json = {{"name", report.measures.name},
               {"unit", report.measures.unit},
               {"sort", table.sort == SortKey::kAllocated ? "allocated"
                        : table.sort == SortKey::kCount   ? "count"
                        : table.sort == SortKey::kAge     ? "age"
                                                          : "live"},
               {"granularity", GranularityName(report.entities.granularity())},
               {"total", FiguresJson(total, report.measures, recording)},
               {"selected", FiguresJson(report.selected, report.measures, recording)},
               {"first", page.first},
               {"count", page.count},
               {"row_count", report.rows.size()},
               {"rows", std::move(rows)}};
  return json.Line();
}

}  // namespace

const Resource kTableResource = {"api/v1/table", kTableParameters, AnswerTable};

}  // namespace heapgauge::endpoint::api
