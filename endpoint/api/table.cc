#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/encode.h"
#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/fold/statistics.h"
#include "core/report/labels.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {

// Which rows of a table a request is about: those whose name matches, in the order that was asked
// for, of these a page. For the table itself and for what is asked of its rows afterwards.

// first, rows: the page. cumulative: by cumulative figures. both: with these as well. match: a
// regular expression over names, without regard to case; the plain text if it is none. order: by
// what if not by the figure. reverse: the last first.
inline constexpr std::string_view kTableParameters[] = {"first", "rows",  "cumulative", "both",
                                                        "match", "order", "reverse"};

struct TablePage {
  Looked looked;
  std::shared_ptr<const Subject::Table> table;
  size_t first = 0;            // of those that match
  size_t count = 0;            // how many match
  std::vector<uint32_t> rows;  // of the page, in FunctionReport::rows
};

Result<TablePage> TablePageOf(const Call& call, const Filter& filter);

namespace {

// As plain text if it is no regular expression: people are in the middle of typing one.
Result<Regex> MatcherOf(std::string_view typed) {
  auto regex = Regex::Compile("(?i)" + std::string(typed));
  return regex ? std::move(regex) : Regex::CompileTyped("(?i)" + EscapeRegex(typed));
}

// What a row is told from others by: its function, file or module.
std::string_view NameOf(const Profile& profile, const FunctionReport& report, uint32_t row) {
  const EntityId id = report.rows[row].entity;
  if (id == kNone) return "(unknown stack)";
  const Entity& entity = report.entities[id];
  if (report.entities.granularity() == Granularity::kModules) {
    return entity.module == kNone ? std::string_view() : profile.modules[entity.module].path;
  }
  const Function& function = profile.functions[entity.function];
  return report.entities.granularity() == Granularity::kFiles ? function.file : function.name;
}

// By line and address the file tells as much as the name.
bool Matches(const Regex& regex, const Profile& profile, const FunctionReport& report,
             uint32_t row) {
  if (regex.Matches(NameOf(profile, report, row))) return true;
  const EntityId id = report.rows[row].entity;
  const Granularity granularity = report.entities.granularity();
  const bool by_place =
      granularity == Granularity::kLines || granularity == Granularity::kAddresses;
  return by_place && id != kNone &&
         regex.Matches(profile.functions[report.entities[id].function].file);
}

// Half of the range beside the figure.
double Unsureness(const HeapFigures& figures, bool allocated) {
  const Estimate& estimate = allocated ? figures.allocated_bytes : figures.live_bytes;
  const Interval range = Interval95(estimate);
  return estimate.value > 0 ? (range.high - range.low) / estimate.value : 0;
}

void SortBy(std::string_view order, bool cumulative, const Profile& profile,
            const Subject::Table& table, std::vector<uint32_t>* rows) {
  const FunctionReport& report = table.report;
  if (order == "name") {
    std::stable_sort(rows->begin(), rows->end(), [&](uint32_t a, uint32_t b) {
      return NameOf(profile, report, a) < NameOf(profile, report, b);
    });
  } else if (order == "range") {
    const bool allocated = table.sort == SortKey::kAllocated;
    std::vector<double> keys(report.rows.size());
    for (const uint32_t i : *rows) {
      keys[i] = Unsureness(cumulative ? report.rows[i].cum : report.rows[i].flat, allocated);
    }
    std::stable_sort(rows->begin(), rows->end(),
                     [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
  }
}

}  // namespace

Result<TablePage> TablePageOf(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t first, NumberOf(call, "first", 0, uint64_t{1} << 40, 0));
  HG_ASSIGN(const uint64_t count, NumberOf(call, "rows", 0, 10'000, 200));
  HG_ASSIGN(const bool cumulative, FlagOf(call, "cumulative"));
  HG_ASSIGN(const bool both, FlagOf(call, "both"));
  HG_ASSIGN(const bool reverse, FlagOf(call, "reverse"));
  const std::string_view order = call.Parameter("order").value_or("");
  if (!order.empty() && order != "name" && order != "range") {
    return Fail(ErrorCode::kInvalidArgument, "order is one of: name range");
  }
  TablePage page;
  HG_ASSIGN(page.looked, LookAt(call, filter));
  HG_ASSIGN(page.table, page.looked.subject->TableOf(filter, cumulative, both));
  const Profile& profile = *page.looked.subject->profile();
  const FunctionReport& report = page.table->report;
  std::vector<uint32_t> rows(report.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  if (const std::string_view match = call.Parameter("match").value_or(""); !match.empty()) {
    HG_ASSIGN(const Regex regex, MatcherOf(match));
    std::erase_if(rows, [&](uint32_t row) { return !Matches(regex, profile, report, row); });
  }
  SortBy(order, cumulative, profile, *page.table, &rows);
  if (reverse) std::reverse(rows.begin(), rows.end());
  page.count = rows.size();
  page.first = std::min<size_t>(first, rows.size());
  const size_t end = std::min<size_t>(page.first + count, rows.size());
  page.rows.assign(rows.begin() + static_cast<ptrdiff_t>(page.first),
                   rows.begin() + static_cast<ptrdiff_t>(end));
  return page;
}

// GET api/v1/table: who holds the memory, a page of the table that `heapgauge top` prints.

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
  const Labels labels(profile, report.entities, shown, filter.names, Layout());
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
               {"sort", SortName(table.sort)},
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

// GET api/v1/history: what the rows of a table had live over time, for a small curve beside each.
// Takes the parameters of the table, so that its rows are those of the same page.

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
