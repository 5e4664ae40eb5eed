#include "endpoint/api/subject.h"

#include <atomic>
#include <utility>

#include "core/analysis/measures.h"
#include "core/analysis/sort_choice.h"

namespace heapgauge::endpoint::api {

namespace {

uint64_t NextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Subject::Subject(std::shared_ptr<const Profile> profile)
    : profile_(std::move(profile)),
      measures_(MeasuresOf(*profile_)),
      number_(NextNumber()),
      trees_(profile_->nodes.size() > kLargeProfile ? kTreesOfLarge : kTrees) {}

const std::vector<HeapFigures>& Subject::Figures() {
  if (figures_.size() != profile_->rows.size()) figures_ = FiguresOfRows(*profile_);
  return figures_;
}

HeapFigures Subject::Total() {
  const std::lock_guard lock(mutex_);
  HeapFigures total;
  for (const HeapFigures& row : Figures()) total.Add(row);
  return total;
}

HeapFigures Subject::FiguresOf(const std::vector<bool>& rows) {
  const std::lock_guard lock(mutex_);
  const std::vector<HeapFigures>& figures = Figures();
  HeapFigures sum;
  for (RowId row = 0; row < figures.size(); ++row) {
    if (rows[row]) sum.Add(figures[row]);
  }
  return sum;
}

std::vector<HeapFigures> Subject::SumsOf(const std::vector<uint32_t>& group_of_row, size_t count) {
  const std::lock_guard lock(mutex_);
  const std::vector<HeapFigures>& figures = Figures();
  std::vector<HeapFigures> sums(count);
  for (RowId row = 0; row < figures.size(); ++row) {
    if (group_of_row[row] != kNone) sums[group_of_row[row]].Add(figures[row]);
  }
  return sums;
}

std::shared_ptr<const Entities> Subject::EntitiesOf(Granularity granularity) {
  const std::string key = GranularityName(granularity);
  if (auto* known = entities_.Find(key)) return *known;
  return entities_.Keep(key, std::make_shared<const Entities>(*profile_, granularity));
}

Result<std::shared_ptr<const Subject::Table>> Subject::TableOf(const Filter& filter,
                                                               bool cumulative, bool both) {
  const std::lock_guard lock(mutex_);
  const std::string key = filter.RowsKey() + (cumulative ? "cum" : both ? "both" : "");
  if (auto* known = tables_.Find(key)) return *known;
  auto made = std::make_shared<Table>();
  HG_ASSIGN(made->sort, ChooseSort(filter.sort, *profile_));
  FunctionOptions options;
  options.filter = {filter.focus, filter.ignore};
  options.sort = made->sort;
  options.cumulative = cumulative;
  options.granularity = GranularityOf(filter.granularity);
  made->has_cum = cumulative || both;
  options.flat_only = !made->has_cum;
  HG_ASSIGN(made->report, AggregateFunctions(*profile_, options));
  return tables_.Keep(key, std::move(made));
}

}  // namespace heapgauge::endpoint::api
