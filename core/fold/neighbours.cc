#include "core/fold/neighbours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/threads.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

enum Side { kCallers, kCallees };

// The neighbours that the stacks of some rows tell.
class Found {
 public:
  explicit Found(size_t functions) : lists_{Lists(functions), Lists(functions)} {}

  // A stack counts once for each pair, so rows come one after another.
  void Count(RowId row, const HeapFigures& figures, uint32_t function, EntityId entity, Side side) {
    Known& known = At(function, entity, side);
    if (known.last_row == row) return;
    known.last_row = row;
    lists_[side][function][known.place].figures.Add(figures);
  }

  // Adds what was found in rows that come behind all of these.
  void Add(const Found& behind) {
    for (const Side side : {kCallers, kCallees}) {
      for (uint32_t function = 0; function < lists_[side].size(); ++function) {
        for (const Neighbour& neighbour : behind.lists_[side][function]) {
          const Known& known = At(function, neighbour.entity, side);
          lists_[side][function][known.place].figures.Add(neighbour.figures);
        }
      }
    }
  }

  // By function, in the order they were met.
  std::vector<Neighbour> Take(uint32_t function, Side side) {
    return std::move(lists_[side][function]);
  }

 private:
  using Lists = std::vector<std::vector<Neighbour>>;
  struct Known {
    uint32_t place = 0;
    RowId last_row = kNone;  // that was counted
  };

  Known& At(uint32_t function, EntityId entity, Side side) {
    const auto [it, is_new] = index_[side].try_emplace(uint64_t{function} << 32 | entity);
    if (is_new) {
      std::vector<Neighbour>& list = lists_[side][function];
      it->second.place = static_cast<uint32_t>(list.size());
      list.push_back({entity, {}});
    }
    return it->second;
  }

  std::array<Lists, 2> lists_;
  std::unordered_map<uint64_t, Known> index_[2];
};

class Collector {
 public:
  Collector(const Groundwork& groundwork, const FunctionReport& report,
            const NeighbourOptions& options)
      : groundwork_(groundwork),
        profile_(groundwork.profile()),
        report_(report),
        options_(options) {}

  Result<Neighbours> Run() {
    HG_ASSIGN(const Regex pattern, Regex::CompileTyped(options_.pattern));
    Match(pattern);
    if (found_.functions.empty()) return std::move(found_);
    HG_ASSIGN(const std::vector<bool> selected,
              SelectRows(profile_, options_.filter, report_.entities.granularity()));
    groundwork_.allocation_frames();
    constexpr size_t kRowsOfPart = 250'000;
    const size_t rows = profile_.rows.size();
    const size_t parts = PartsOf(rows, kRowsOfPart);
    std::vector<Found> shares(parts, Found(found_.functions.size()));
    InParallel(parts, [&](size_t part) {
      AddRows(selected, BeginOfPart(rows, part, parts), BeginOfPart(rows, part + 1, parts),
              &shares[part]);
    });
    for (size_t part = 1; part < parts; ++part) shares[0].Add(shares[part]);
    for (uint32_t i = 0; i < found_.functions.size(); ++i) {
      found_.functions[i].callers = Sorted(shares[0].Take(i, kCallers));
      found_.functions[i].callees = Sorted(shares[0].Take(i, kCallees));
    }
    return std::move(found_);
  }

 private:
  void Match(const Regex& pattern) {
    place_.resize(report_.entities.size(), kNone);
    for (size_t i = 0; i < report_.rows.size(); ++i) {
      const EntityId id = report_.rows[i].entity;
      if (id == kNone || !MatchesEntity(pattern, id)) continue;
      if (++found_.matching > options_.most) continue;
      place_[id] = static_cast<uint32_t>(found_.functions.size());
      found_.functions.push_back({i, {}, {}});
    }
    matches_.resize(profile_.locations.size());
    for (LocationId id = 0; id < matches_.size(); ++id) {
      for (uint32_t k = 0; k < profile_.locations[id].frame_count; ++k) {
        if (place_[report_.entities.Of(id, k)] != kNone) matches_[id] = 1;
      }
    }
  }

  bool MatchesEntity(const Regex& pattern, EntityId id) const {
    const Granularity granularity = report_.entities.granularity();
    const bool is_path = granularity == Granularity::kModules || granularity == Granularity::kFiles;
    return is_path ? pattern.Matches(TextOf(id)) : MatchesFunction(pattern, TextOf(id));
  }

  const std::string& TextOf(EntityId id) const {
    static const std::string kNothing;
    const Entity& entity = report_.entities[id];
    const Granularity granularity = report_.entities.granularity();
    if (granularity == Granularity::kModules) {
      return entity.module == kNone ? kNothing : profile_.modules[entity.module].path;
    }
    const Function& function = profile_.functions[entity.function];
    return granularity == Granularity::kFiles ? function.file : function.name;
  }

  void AddRows(const std::vector<bool>& selected, size_t begin, size_t end, Found* found) const {
    const RowFigures& figures = groundwork_.figures();
    std::vector<EntityId> frames;
    WalkStacks(
        profile_.nodes, begin, end,
        [&](size_t row) { return selected[row] ? profile_.rows[row].leaf : kNone; },
        [&](size_t i, const std::vector<LocationId>& stack) {
          const auto matches = [this](LocationId id) { return matches_[id] != 0; };
          if (std::none_of(stack.begin(), stack.end(), matches)) return;
          const auto row = static_cast<RowId>(i);
          FramesOf(stack, &frames);
          AddRow(row, figures[row], frames, found);
        });
  }

  // Who is on a stack, innermost first, without what only allocates (see FlatFrame). Calls of
  // itself are not neighbours, so each function stands there once in a row.
  void FramesOf(const std::vector<LocationId>& stack, std::vector<EntityId>* frames) const {
    const std::vector<uint32_t>& allocate = groundwork_.allocation_frames();
    frames->clear();
    const auto count_at = [&](size_t i) { return profile_.locations[stack[i]].frame_count; };
    size_t at = 0;
    while (at < stack.size() && allocate[stack[at]] >= count_at(at)) ++at;
    uint32_t k = 0;
    if (at < stack.size()) {
      k = allocate[stack[at]];
    } else {
      // The whole stack allocates: its outermost frame stands for it.
      while (at > 0 && count_at(at - 1) == 0) --at;
      if (at == 0) return;
      k = count_at(--at) - 1;
    }
    for (; at < stack.size(); ++at, k = 0) {
      for (; k < count_at(at); ++k) {
        const EntityId entity = report_.entities.Of(stack[at], k);
        if (frames->empty() || frames->back() != entity) frames->push_back(entity);
      }
    }
  }

  void AddRow(RowId row, const HeapFigures& f, const std::vector<EntityId>& frames,
              Found* found) const {
    for (size_t i = 0; i < frames.size(); ++i) {
      const uint32_t at = place_[frames[i]];
      if (at == kNone) continue;
      found->Count(row, f, at, i == 0 ? kNone : frames[i - 1], kCallees);
      found->Count(row, f, at, i + 1 == frames.size() ? kNone : frames[i + 1], kCallers);
    }
  }

  std::vector<Neighbour> Sorted(std::vector<Neighbour> list) const {
    std::stable_sort(list.begin(), list.end(), [&](const Neighbour& a, const Neighbour& b) {
      return std::fabs(SortValue(a.figures, options_.sort, 0)) >
             std::fabs(SortValue(b.figures, options_.sort, 0));
    });
    return list;
  }

  const Groundwork& groundwork_;
  const Profile& profile_;
  const FunctionReport& report_;
  const NeighbourOptions& options_;
  Neighbours found_;
  std::vector<uint32_t> place_;   // by entity, in found_.functions
  std::vector<uint8_t> matches_;  // by location: some frame of it is one of them
};

}  // namespace

Result<Neighbours> FindNeighbours(const Groundwork& groundwork, const FunctionReport& report,
                                  const NeighbourOptions& options) {
  return Collector(groundwork, report, options).Run();
}

}  // namespace heapgauge
