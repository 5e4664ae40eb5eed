#include "endpoint/api/subject.h"

#include <atomic>
#include <utility>

#include "core/fold/sort_choice.h"

namespace heapgauge::endpoint::api {

namespace {

uint64_t NextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Subject::Subject(std::shared_ptr<const Profile> profile)
    : profile_(std::move(profile)),
      groundwork_(*profile_),
      number_(NextNumber()),
      trees_(profile_->nodes.size() > kLargeProfile ? kTreesOfLarge : kTrees) {}

HeapFigures Subject::FiguresOf(const std::vector<bool>& rows) const {
  const RowFigures& figures = groundwork_.figures();
  HeapFigures sum;
  for (RowId row = 0; row < figures.size(); ++row) {
    if (rows[row]) sum.Add(figures[row]);
  }
  return sum;
}

std::vector<HeapFigures> Subject::SumsOf(const std::vector<uint32_t>& group_of_row,
                                         size_t count) const {
  const RowFigures& figures = groundwork_.figures();
  std::vector<HeapFigures> sums(count);
  for (RowId row = 0; row < figures.size(); ++row) {
    if (group_of_row[row] != kNone) sums[group_of_row[row]].Add(figures[row]);
  }
  return sums;
}

Result<std::shared_ptr<const Subject::Table>> Subject::TableOf(const Filter& filter,
                                                               bool cumulative, bool both) {
  const std::string key = filter.RowsKey() + (cumulative ? "cum" : both ? "both" : "");
  return tables_.Get(key, [&] { return MakeTable(filter, cumulative, both); });
}

Result<std::shared_ptr<const Subject::Table>> Subject::MakeTable(const Filter& filter,
                                                                 bool cumulative, bool both) const {
  auto made = std::make_shared<Table>();
  HG_ASSIGN(made->sort, ChooseSort(filter.sort, *profile_));
  FunctionOptions options;
  options.filter = {filter.focus, filter.ignore};
  options.sort = made->sort;
  options.cumulative = cumulative;
  options.granularity = GranularityOf(filter.granularity);
  made->has_cum = cumulative || both;
  options.flat_only = !made->has_cum;
  HG_ASSIGN(made->report, AggregateFunctions(groundwork_, options));
  return made;
}

}  // namespace heapgauge::endpoint::api
