#include "endpoint/api/subject.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "core/fold/compare.h"
#include "core/fold/fold_stacks.h"
#include "core/fold/functions.h"

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
  const std::string key = KeyOf(filter, kRowFields) + (cumulative ? "cum" : both ? "both" : "");
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
  options.granularity = filter.granularity;
  made->has_cum = cumulative || both;
  options.flat_only = !made->has_cum;
  HG_ASSIGN(made->report, AggregateFunctions(groundwork_, options));
  return made;
}

// Trees of a subject: of its own stacks, of stacks without recursion, and beside another subject's.

std::vector<bool> Subject::Tree::RowsBelow(const std::vector<Step>& path) const {
  std::vector<bool> below = tree->RowsBelow(path);
  if (row_of.empty()) return below;
  std::vector<bool> own(row_of.size());
  for (RowId row = 0; row < own.size(); ++row) own[row] = below[row_of[row]];
  return own;
}

Result<std::vector<double>> Subject::ValuesOf(const Filter& filter, bool with_shrunk,
                                              Tree* made) const {
  HG_ASSIGN(made->sort, ChooseSort(filter.sort, *profile_));
  if (made->sort == SortKey::kAge) made->sort = SortKey::kLive;  // ages are no sums
  HG_ASSIGN(const std::vector<bool> selected,
            SelectRows(*profile_, {filter.focus, filter.ignore}, filter.granularity));
  const RowFigures& figures = groundwork_.figures();
  std::vector<double> values(figures.size());
  made->rows.resize(figures.size());
  // As in the trees of the command line: of a change, what shrank has no place in a picture of
  // parts.
  const bool only_growth = !with_shrunk && measures().is_change && made->sort == SortKey::kLive;
  for (RowId row = 0; row < figures.size(); ++row) {
    const HeapFigures f = figures[row];
    const double value = SortValue(f, made->sort, 0);
    if (only_growth && value <= 0) {
      if (selected[row]) made->shrunk += value;
      continue;
    }
    made->total.Add(f);
    if (!selected[row]) continue;
    made->selected.Add(f);
    values[row] = value;
    made->rows[row] = true;
  }
  return values;
}

Status Subject::Fold(const Filter& filter, const Shape& shape, Tree* made,
                     std::vector<double>* values, StackTree::Options* options) const {
  const Granularity granularity = filter.granularity;
  std::vector<double> base_values;
  std::shared_ptr<const Profile> stacks = profile_;
  std::shared_ptr<const Entities> entities;
  if (shape.base != nullptr) {
    HG_TRY(CheckComparable(*shape.base->profile(), *profile_));
    Tree unused;
    HG_ASSIGN(base_values, shape.base->ValuesOf(filter, true, &unused));
    HG_ASSIGN(Profile both, SideBySide(*profile_, *shape.base->profile()));
    stacks = std::make_shared<const Profile>(std::move(both));
    const auto own = groundwork_.entities(granularity);
    const auto base = shape.base->groundwork_.entities(granularity);
    entities = std::make_shared<const Entities>(EntitiesSideBySide(
        *stacks, {profile_.get(), own.get()}, {shape.base->profile().get(), base.get()}));
  } else {
    entities = groundwork_.entities(granularity);
  }
  std::vector<bool> collapse;
  if (!shape.collapse.empty()) {
    HG_ASSIGN(collapse, MatchEntities(*stacks, *entities, shape.collapse));
  }
  FoldedStacks folded = FoldStacks(*stacks, *entities, collapse);
  const size_t own = values->size();
  std::vector<StackTree::Sides> sides(folded.profile.rows.size());
  for (RowId row = 0; row < folded.row_of.size(); ++row) {
    StackTree::Sides& to = sides[folded.row_of[row]];
    if (row < own) {
      to.after += (*values)[row];
    } else {
      to.before += base_values[row - own];
    }
  }
  // A box is as wide as the larger of its two sides, so that what went is seen as well.
  values->resize(sides.size());
  for (RowId row = 0; row < sides.size(); ++row) {
    (*values)[row] = shape.base == nullptr
                         ? sides[row].after
                         : std::max(std::fabs(sides[row].before), std::fabs(sides[row].after));
  }
  if (shape.base != nullptr) options->sides = std::move(sides);
  folded.row_of.resize(own);
  made->row_of = std::move(folded.row_of);
  made->profile = std::make_shared<const Profile>(std::move(folded.profile));
  made->entities = std::make_shared<const Entities>(std::move(folded.entities));
  return {};
}

Result<std::shared_ptr<const Subject::Tree>> Subject::TreeOf(const Filter& filter,
                                                             const Shape& shape) {
  std::string key = KeyOf(filter, kRowFields) + (shape.callers ? "callers" : "");
  for (const std::string& part : {shape.through, shape.collapse}) key.append(1, '\0').append(part);
  if (shape.base != nullptr) key.append(1, '\0').append(std::to_string(shape.base->number_));
  return trees_.Get(key, [&] { return MakeTree(filter, shape); });
}

Result<std::shared_ptr<const Subject::Tree>> Subject::MakeTree(const Filter& filter,
                                                               const Shape& shape) const {
  auto made = std::make_shared<Tree>();
  made->compares = shape.base != nullptr;
  HG_ASSIGN(std::vector<double> values, ValuesOf(filter, shape.base != nullptr, made.get()));
  StackTree::Options options;
  options.callers = shape.callers;
  std::optional<Groundwork> folded;
  if (shape.base != nullptr || !shape.collapse.empty()) {
    HG_TRY(Fold(filter, shape, made.get(), &values, &options));
    folded.emplace(*made->profile);
  } else {
    made->profile = profile_;
    made->entities = groundwork_.entities(filter.granularity);
  }
  if (!shape.through.empty()) {
    HG_ASSIGN(options.through, MatchEntities(*made->profile, *made->entities, shape.through));
  }
  made->tree = std::make_unique<StackTree>(folded ? *folded : groundwork_, *made->entities,
                                           std::move(values), std::move(options));
  return made;
}

}  // namespace heapgauge::endpoint::api
