#include "core/fold/groundwork.h"

#include <algorithm>

#include "core/base/threads.h"
#include "core/fold/frames.h"
#include "core/model/stacks.h"

namespace heapgauge {

RowFigures::RowFigures(const Profile& profile, const Measures& measures)
    : profile_(profile),
      types_(profile.sample_types.size()),
      main_(measures.main),
      allocated_(measures.allocated),
      objects_(measures.objects),
      allocated_objects_(measures.allocated_objects),
      has_samples_(measures.has_samples) {
  // The snapshot of a peak does not keep births.
  if (profile.blocks.empty() || profile.recording.is_peak) return;
  births_.resize(profile.rows.size());
  for (const SampledBlock& block : profile.blocks) {
    Births& births = births_[block.row];
    const double bytes = WeightOf(block.size, block.interval).bytes;
    births.bytes += bytes;
    births.sum += bytes * static_cast<double>(block.birth_ns);
    births.oldest = std::min(births.oldest, block.birth_ns);
  }
}

HeapFigures RowFigures::Total() const {
  HeapFigures total;
  for (size_t row = 0; row < size(); ++row) total.Add((*this)[row]);
  return total;
}

uint64_t HeapFigures::MeanAge(uint64_t now_ns) const {
  if (!(aged_bytes > 0)) return 0;
  const double mean_birth = birth_sum / aged_bytes;
  const double age = static_cast<double>(now_ns) - mean_birth;
  return age > 0 ? static_cast<uint64_t>(age) : 0;
}

uint64_t HeapFigures::OldestAge(uint64_t now_ns) const {
  return now_ns > oldest_birth ? now_ns - oldest_birth : 0;
}

std::vector<HeapFigures> FiguresOfRows(const Profile& profile) {
  const RowFigures figures(profile, MeasuresOf(profile));
  std::vector<HeapFigures> list;
  list.reserve(figures.size());
  for (size_t row = 0; row < figures.size(); ++row) list.push_back(figures[row]);
  return list;
}

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
