#include "endpoint/api/table_rows.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/regex.h"
#include "core/fold/interval.h"

namespace heapgauge::endpoint::api {
namespace {

// As plain text if it is no regular expression: people are in the middle of typing one.
Result<Regex> MatcherOf(std::string_view typed) {
  std::string escaped;
  for (const char c : typed) {
    if (std::string_view("\\^$.*+?()[]{}|").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  auto regex = Regex::Compile("(?i)" + std::string(typed));
  return regex ? std::move(regex) : Regex::CompileTyped("(?i)" + escaped);
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

}  // namespace heapgauge::endpoint::api
