#include "core/analysis/neighbours.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "core/analysis/allocation_frames.h"

namespace heapgauge {
namespace {

class Collector {
 public:
  Collector(const Profile& profile, const FunctionReport& report, const NeighbourOptions& options)
      : profile_(profile), report_(report), options_(options) {}

  Result<Neighbours> Run() {
    HG_TRY(CheckPattern(options_.pattern));
    Match();
    if (found_.functions.empty()) return std::move(found_);
    HG_ASSIGN(const std::vector<bool> selected,
              SelectRows(profile_, options_.filter, report_.entities.granularity()));
    const std::vector<HeapFigures> figures = FiguresOfRows(profile_);
    const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile_);
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      if (selected[row]) AddRow(row, figures[row], allocation_frames);
    }
    for (Peeked& peeked : found_.functions) {
      Sort(&peeked.callers);
      Sort(&peeked.callees);
    }
    return std::move(found_);
  }

 private:
  enum Side { kCallers, kCallees };

  void Match() {
    RE2::Options re_options(RE2::Quiet);
    re_options.set_max_mem(16 << 20);
    const RE2 re(options_.pattern, re_options);
    place_.resize(report_.entities.size(), kNone);
    for (size_t i = 0; i < report_.rows.size(); ++i) {
      const EntityId id = report_.rows[i].entity;
      if (id == kNone || !RE2::PartialMatch(TextOf(id), re)) continue;
      if (++found_.matching > options_.most) continue;
      place_[id] = static_cast<uint32_t>(found_.functions.size());
      found_.functions.push_back({i, {}, {}});
    }
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

  void AddRow(RowId row, const HeapFigures& f, const std::vector<uint32_t>& allocation_frames) {
    const FramePlace flat = FlatFrame(profile_, row, allocation_frames);
    stack_.clear();
    uint32_t k = flat.k;
    for (NodeId node = flat.node; node != kNone; node = profile_.nodes[node].parent, k = 0) {
      const LocationId id = profile_.nodes[node].location;
      for (; k < profile_.locations[id].frame_count; ++k) {
        const EntityId entity = report_.entities.Of(id, k);
        // Calls of itself are not neighbours.
        if (stack_.empty() || stack_.back() != entity) stack_.push_back(entity);
      }
    }
    for (size_t i = 0; i < stack_.size(); ++i) {
      const uint32_t at = place_[stack_[i]];
      if (at == kNone) continue;
      Count(row, f, i == 0 ? kNone : stack_[i - 1], at, kCallees);
      Count(row, f, i + 1 == stack_.size() ? kNone : stack_[i + 1], at, kCallers);
    }
  }

  void Count(RowId row, const HeapFigures& f, EntityId entity, uint32_t at, Side side) {
    Peeked& peeked = found_.functions[at];
    std::vector<Neighbour>& list = side == kCallers ? peeked.callers : peeked.callees;
    const auto [it, is_new] = index_[side].try_emplace(uint64_t{at} << 32 | entity);
    if (is_new) {
      it->second.place = static_cast<uint32_t>(list.size());
      list.push_back({entity, {}});
    }
    if (it->second.last_row == row) return;
    it->second.last_row = row;
    list[it->second.place].figures.Add(f);
  }

  void Sort(std::vector<Neighbour>* list) const {
    std::stable_sort(list->begin(), list->end(), [&](const Neighbour& a, const Neighbour& b) {
      return std::fabs(SortValue(a.figures, options_.sort, 0)) >
             std::fabs(SortValue(b.figures, options_.sort, 0));
    });
  }

  struct Known {
    uint32_t place = 0;
    RowId last_row = kNone;  // that was counted
  };

  const Profile& profile_;
  const FunctionReport& report_;
  const NeighbourOptions& options_;
  Neighbours found_;
  std::vector<uint32_t> place_;  // by entity, in found_.functions
  std::unordered_map<uint64_t, Known> index_[2];
  std::vector<EntityId> stack_;
};

}  // namespace

Result<Neighbours> FindNeighbours(const Profile& profile, const FunctionReport& report,
                                  const NeighbourOptions& options) {
  return Collector(profile, report, options).Run();
}

}  // namespace heapgauge
