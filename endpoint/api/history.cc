// GET api/v1/history: what the rows of a table had live over time, for a small curve beside each.
// Takes the parameters of the table, so that its rows are those of the same page.

#include <string>

#include "endpoint/api/api.h"
#include "endpoint/api/table_rows.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kHistoryParameters[] = {"first", "rows",  "cumulative", "both",
                                                   "match", "order", "reverse",    "points"};

Result<std::string> AnswerHistory(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t points, NumberOf(call, "points", 2, 500, 40));
  HG_ASSIGN(const bool cumulative, FlagOf(call, "cumulative"));
  HG_ASSIGN(const TablePage page, TablePageOf(call, filter));
  const FunctionReport& report = page.table->report;
  const Profile& profile = *page.looked.subject->profile();
  Source::RowsOverTime rows;
  rows.granularity = report.entities.granularity();
  rows.cumulative = cumulative;
  rows.filter = {filter.focus, filter.ignore};
  rows.points = points;
  for (const uint32_t row : page.rows) {
    const EntityId entity = report.rows[row].entity;
    rows.identities.push_back(entity == kNone ? std::string()
                                              : IdentityOf(profile, report.entities, entity));
  }
  HG_ASSIGN(const Source::History history, page.looked.opened->source().Recall(filter, rows));
  const auto numbers = [](const std::vector<uint64_t>& list) {
    return std::vector<double>(list.begin(), list.end());
  };
  Json series = Json::Array();
  for (const auto& row : history.bytes) series.Add(numbers(row));
  return Json{{"known", history.why_not.empty()},
              {"why_not", history.why_not},
              {"times_ns", numbers(history.times_ns)},
              {"live_bytes", std::move(series)}}
      .Line();
}

}  // namespace

const Resource kHistoryResource = {"api/v1/history", kHistoryParameters, AnswerHistory};

}  // namespace heapgauge::endpoint::api
