// GET api/v1/peek: functions among their callers and callees, with the figures of `heapgauge peek`.

#include <algorithm>

#include "core/fold/neighbours.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kPeekParameters[] = {"pattern", "rows", "most"};

Result<std::string> AnswerPeek(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 1, 100, 10));
  HG_ASSIGN(const uint64_t most, NumberOf(call, "most", 1, 10'000, 200));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  HG_ASSIGN(const auto table, looked.subject->TableOf(filter, true));
  const FunctionReport& report = table->report;
  const Profile& profile = *looked.subject->profile();
  const Measures& measures = report.measures;
  NeighbourOptions options;
  options.pattern = call.Parameter("pattern").value_or("");
  options.filter = {filter.focus, filter.ignore};
  options.sort = table->sort;
  options.most = rows;
  HG_ASSIGN(const Neighbours found, FindNeighbours(looked.subject->groundwork(), report, options));

  std::vector<EntityId> shown;
  for (const Peeked& peeked : found.functions) {
    shown.push_back(report.rows[peeked.row].entity);
    for (const auto* side : {&peeked.callers, &peeked.callees}) {
      for (const Neighbour& neighbour : *side) shown.push_back(neighbour.entity);
    }
  }
  const Labels labels(profile, report.entities, std::move(shown),
                      filter.names == "whole" ? Names::kWhole : Names::kShort, Layout());
  const auto side = [&](const std::vector<Neighbour>& list) {
    Json json = Json::Array();
    for (size_t i = 0; i < std::min<size_t>(list.size(), most); ++i) {
      const Neighbour& neighbour = list[i];
      Json entry = neighbour.entity == kNone
                       ? Json{{"function", nullptr}}
                       : EntityJson(profile, report.entities, neighbour.entity);
      // Nobody, or the function itself.
      entry["label"] = neighbour.entity == kNone ? Json(nullptr) : Json(labels[neighbour.entity]);
      entry["figures"] = FiguresJson(neighbour.figures, measures, profile.recording);
      json.Add(std::move(entry));
    }
    return json;
  };
  Json functions = Json::Array();
  for (const Peeked& peeked : found.functions) {
    const FunctionRow& row = report.rows[peeked.row];
    Json entry = EntityJson(profile, report.entities, row.entity);
    entry["label"] = labels[row.entity];
    entry["place"] = row.frame == kNone
                         ? std::string()
                         : PlaceOf(profile, report.entities.granularity(), row.frame);
    if (row.frame != kNone) entry["line"] = profile.frames[row.frame].line;
    entry["flat"] = FiguresJson(row.flat, measures, profile.recording);
    entry["cum"] = FiguresJson(row.cum, measures, profile.recording);
    entry["callers"] = side(peeked.callers);
    entry["caller_count"] = peeked.callers.size();
    entry["callees"] = side(peeked.callees);
    entry["callee_count"] = peeked.callees.size();
    functions.Add(std::move(entry));
  }
  return Json{{"name", measures.name},
              {"unit", measures.unit},
              {"sort", table->sort == SortKey::kAllocated ? "allocated" : "live"},
              {"granularity", GranularityName(report.entities.granularity())},
              {"total", FiguresJson(report.total, measures, profile.recording)},
              {"matching", found.matching},
              {"functions", std::move(functions)}}
      .Line();
}

}  // namespace

const Resource kPeekResource = {"api/v1/peek", kPeekParameters, AnswerPeek};

}  // namespace heapgauge::endpoint::api
