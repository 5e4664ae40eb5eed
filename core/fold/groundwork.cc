#include "core/fold/groundwork.h"

#include "core/base/in_parallel.h"
#include "core/fold/allocation_frames.h"
#include "core/model/walk_stacks.h"

namespace heapgauge {

HeapFigures Groundwork::total() const {
  return total_.Get([this] { return figures_.Total(); });
}

const std::vector<uint32_t>& Groundwork::allocation_frames() const {
  return allocation_frames_.Get([this] { return CountAllocationFrames(profile_); });
}

const std::vector<FramePlace>& Groundwork::flat_frames() const {
  return flat_frames_.Get([this] {
    const std::vector<uint32_t>& allocate = allocation_frames();
    std::vector<FramePlace> places(profile_.rows.size());
    constexpr size_t kRowsOfPart = 100'000;
    const size_t parts = PartsOf(places.size(), kRowsOfPart);
    InParallel(parts, [&](size_t part) {
      const size_t end = BeginOfPart(places.size(), part + 1, parts);
      for (size_t row = BeginOfPart(places.size(), part, parts); row < end; ++row) {
        PrefetchAhead(profile_, row);
        places[row] = FlatFrame(profile_, static_cast<RowId>(row), allocate);
      }
    });
    return places;
  });
}

const std::shared_ptr<const Entities>& Groundwork::entities(Granularity granularity) const {
  return entities_[static_cast<size_t>(granularity)].Get(
      [&] { return std::make_shared<const Entities>(profile_, granularity); });
}

}  // namespace heapgauge
