#include "core/fold/function_sums.h"

#include <algorithm>
#include <cmath>

#include "core/base/threads.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

constexpr size_t kRowsOfPart = 250'000;

// Rows without live bytes still have a place where they allocate, and so have blocks of 0 bytes.
double PlaceWeight(const HeapFigures& f) {
  const double bytes = std::fabs(f.live_bytes.value) + 1e-6 * f.allocated_bytes.value;
  return bytes != 0 ? bytes : 1e-12 * (std::fabs(f.live_objects) + f.allocated_objects);
}

// The figures of a profile that only knows its main figure, as most do which were not recorded
// here. In one line of the cache: there is one for each entity, and stacks name them in no order.
struct alignas(64) MainFigures {
  Estimate main;
  double objects = 0;
  uint64_t samples = 0;
  uint64_t live_samples = 0;

  void Add(const HeapFigures& f) {
    main.Add(f.live_bytes);
    objects += f.live_objects;
    samples += f.samples;
    live_samples += f.live_samples;
  }
  void AddTo(HeapFigures* f) const {
    f->live_bytes.Add(main);
    f->live_objects += objects;
    f->samples += samples;
    f->live_samples += live_samples;
  }
};

struct AllFigures : HeapFigures {
  void AddTo(HeapFigures* f) const { f->Add(*this); }
};

bool HasMainFiguresOnly(const Groundwork& groundwork) {
  const Measures& m = groundwork.measures();
  return m.allocated == kNone && m.allocated_objects == kNone &&
         groundwork.profile().blocks.empty();
}

// Calls count(entity, frame) for what is marked on a stack, once for each entity: at the innermost
// frame. One for each thread.
class StackVisitor {
 public:
  StackVisitor(const Profile& profile, const Entities& entities, const FrameMarks& marks)
      : profile_(profile),
        entities_(entities),
        marks_(marks),
        only_(profile.locations.size()),
        counted_in_(entities.size(), kNone) {
    for (LocationId id = 0; id < only_.size(); ++id) {
      const Location& location = profile.locations[id];
      if (marks.locations[id] == 0 || location.frame_count == 0) continue;
      only_[id].entity = entities.Of(id, 0);
      if (location.frame_count == 1) only_[id].frame = location.first_frame;
    }
  }

  template <typename Count>
  void Visit(RowId row, const std::vector<LocationId>& stack, const Count& count) {
    const auto once = [&](EntityId entity, uint32_t frame) {
      if (counted_in_[entity] == row) return;
      counted_in_[entity] = row;
      count(entity, frame);
    };
    for (const LocationId id : stack) {
      if (only_[id].entity == kNone) continue;
      if (only_[id].frame != kNone) {
        once(only_[id].entity, only_[id].frame);
        continue;
      }
      const Location& location = profile_.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        const EntityId entity = entities_.Of(id, k);
        if (marks_.entities[entity] != 0) once(entity, location.first_frame + k);
      }
    }
  }

 private:
  // Most locations have one frame. What is needed of it is kept together, because each look at
  // another table waits for memory.
  struct Only {
    EntityId entity = kNone;  // kNone: nothing is marked here
    uint32_t frame = kNone;   // kNone: there are several
  };

  const Profile& profile_;
  const Entities& entities_;
  const FrameMarks& marks_;
  std::vector<Only> only_;
  std::vector<RowId> counted_in_;  // by entity
};

// What the rows of one part hold.
template <typename Figures>
struct Share {
  HeapFigures total;
  HeapFigures selected;
  HeapFigures unknown;
  std::vector<Figures> flat;
  std::vector<Figures> cum;
  std::vector<double> frame_flat;
  std::vector<double> frame_cum;
};

template <typename Figures>
class Adder {
 public:
  Adder(const Groundwork& groundwork, const Entities& entities, const std::vector<bool>& selected,
        bool with_cum)
      : profile_(groundwork.profile()),
        entities_(entities),
        selected_(selected),
        with_cum_(with_cum),
        figures_(groundwork.figures()),
        flat_frames_(groundwork.flat_frames()),
        all_{std::vector<uint8_t>(profile_.locations.size(), 1),
             std::vector<uint8_t>(entities.size(), 1)} {}

  FunctionSums Run() const {
    const size_t parts = PartsOf(profile_.rows.size(), kRowsOfPart);
    std::vector<Share<Figures>> shares(parts);
    InParallel(parts, [&](size_t part) {
      AddRows(BeginOfPart(profile_.rows.size(), part, parts),
              BeginOfPart(profile_.rows.size(), part + 1, parts), &shares[part]);
    });
    FunctionSums sums;
    sums.flat.resize(entities_.size());
    sums.frame_flat.resize(profile_.frames.size());
    if (with_cum_) {
      sums.cum.resize(entities_.size());
      sums.frame_cum.resize(profile_.frames.size());
    }
    for (const Share<Figures>& share : shares) {
      sums.total.Add(share.total);
      sums.selected.Add(share.selected);
      sums.unknown.Add(share.unknown);
      for (size_t i = 0; i < share.flat.size(); ++i) share.flat[i].AddTo(&sums.flat[i]);
      for (size_t i = 0; i < share.cum.size(); ++i) share.cum[i].AddTo(&sums.cum[i]);
      for (size_t i = 0; i < share.frame_flat.size(); ++i) {
        sums.frame_flat[i] += share.frame_flat[i];
      }
      for (size_t i = 0; i < share.frame_cum.size(); ++i) sums.frame_cum[i] += share.frame_cum[i];
    }
    return sums;
  }

 private:
  void AddRows(size_t begin, size_t end, Share<Figures>* share) const {
    share->flat.resize(entities_.size());
    share->frame_flat.resize(profile_.frames.size());
    for (size_t row = begin; row < end; ++row) {
      PrefetchFlat(row);
      const HeapFigures f = figures_[row];
      share->total.Add(f);
      if (selected_[row]) AddFlat(row, f, share);
    }
    if (!with_cum_) return;
    share->cum.resize(entities_.size());
    share->frame_cum.resize(profile_.frames.size());
    StackVisitor visitor(profile_, entities_, all_);
    const auto leaf_of = [&](size_t row) {
      return selected_[row] ? profile_.rows[row].leaf : kNone;
    };
    WalkStacks(
        profile_.nodes, begin, end, leaf_of, [&](size_t row, const std::vector<LocationId>& stack) {
          const HeapFigures& f = figures_[row];
          const double weight = PlaceWeight(f);
          visitor.Visit(static_cast<RowId>(row), stack, [&](EntityId entity, uint32_t frame) {
            share->cum[entity].Add(f);
            share->frame_cum[frame] += weight;
          });
        });
  }

  void PrefetchFlat(size_t row) const {
    constexpr size_t kAhead = 16;
    if (row + kAhead >= flat_frames_.size()) return;
    const NodeId node = flat_frames_[row + kAhead].node;
    if (node != kNone) __builtin_prefetch(&profile_.nodes[node]);
  }

  void AddFlat(size_t row, const HeapFigures& f, Share<Figures>* share) const {
    share->selected.Add(f);
    const FramePlace& flat = flat_frames_[row];
    if (flat.node == kNone) {
      share->unknown.Add(f);
      return;
    }
    const LocationId at = profile_.nodes[flat.node].location;
    share->flat[entities_.Of(at, flat.k)].Add(f);
    share->frame_flat[profile_.locations[at].first_frame + flat.k] += PlaceWeight(f);
  }

  const Profile& profile_;
  const Entities& entities_;
  const std::vector<bool>& selected_;
  const bool with_cum_;
  const RowFigures& figures_;
  const std::vector<FramePlace>& flat_frames_;
  const FrameMarks all_;
};

}  // namespace

FunctionSums SumFunctions(const Groundwork& groundwork, const Entities& entities,
                          const std::vector<bool>& selected, bool with_cum) {
  if (HasMainFiguresOnly(groundwork)) {
    return Adder<MainFigures>(groundwork, entities, selected, with_cum).Run();
  }
  return Adder<AllFigures>(groundwork, entities, selected, with_cum).Run();
}

std::vector<double> WeighFrames(const Groundwork& groundwork, const Entities& entities,
                                const std::vector<bool>& selected, const FrameMarks& marks) {
  const Profile& profile = groundwork.profile();
  std::vector<double> sums(profile.frames.size());
  if (std::find(marks.locations.begin(), marks.locations.end(), 1) == marks.locations.end()) {
    return sums;
  }
  const RowFigures& figures = groundwork.figures();
  const size_t rows = profile.rows.size();
  const size_t parts = PartsOf(rows, kRowsOfPart);
  std::vector<std::vector<double>> shares(parts);
  InParallel(parts, [&](size_t part) {
    std::vector<double>& share = shares[part];
    share.resize(profile.frames.size());
    StackVisitor visitor(profile, entities, marks);
    const auto leaf_of = [&](size_t row) { return selected[row] ? profile.rows[row].leaf : kNone; };
    WalkStacks(profile.nodes, BeginOfPart(rows, part, parts), BeginOfPart(rows, part + 1, parts),
               leaf_of, [&](size_t row, const std::vector<LocationId>& stack) {
                 const double weight = PlaceWeight(figures[row]);
                 visitor.Visit(static_cast<RowId>(row), stack,
                               [&](EntityId, uint32_t frame) { share[frame] += weight; });
               });
  });
  for (const std::vector<double>& share : shares) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += share[i];
  }
  return sums;
}

}  // namespace heapgauge
