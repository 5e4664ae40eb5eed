// GET api/v1/table: who holds the memory, a page of the table that `heapgauge top` prints.

#include <algorithm>

#include "core/report/labels.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kParameters[] = {"first", "rows", "cumulative"};

Result<std::string> AnswerTable(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t first, NumberOf(call, "first", 0, uint64_t{1} << 40, 0));
  HG_ASSIGN(const uint64_t count, NumberOf(call, "rows", 0, 10'000, 200));
  HG_ASSIGN(const bool cumulative, FlagOf(call, "cumulative"));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  HG_ASSIGN(const auto table, looked.subject->TableOf(filter, cumulative));
  const Profile& profile = *looked.subject->profile();
  const Recording& recording = profile.recording;
  const FunctionReport& report = table->report;
  HeapFigures total = report.total;
  total.live_bytes = OrNothingSampled(total.live_bytes, recording);
  const size_t begin = std::min<size_t>(first, report.rows.size());
  const size_t end = std::min<size_t>(begin + count, report.rows.size());
  std::vector<EntityId> shown;
  for (size_t i = begin; i < end; ++i) shown.push_back(report.rows[i].entity);
  const Labels labels(profile, report.entities, shown,
                      filter.names == "whole" ? Names::kWhole : Names::kShort, Layout());
  Json rows = Json::Array();
  for (size_t i = begin; i < end; ++i) {
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
    if (cumulative) entry["cum"] = FiguresJson(row.cum, report.measures, recording);
    rows.Add(std::move(entry));
  }
  Json json = {{"name", report.measures.name},
               {"unit", report.measures.unit},
               {"granularity", GranularityName(report.entities.granularity())},
               {"total", FiguresJson(total, report.measures, recording)},
               {"selected", FiguresJson(report.selected, report.measures, recording)},
               {"first", begin},
               {"count", report.rows.size()},
               {"rows", std::move(rows)}};
  return json.Line();
}

}  // namespace

const Resource kTableResource = {"api/v1/table", kParameters, AnswerTable};

}  // namespace heapgauge::endpoint::api
