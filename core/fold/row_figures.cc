#include "core/fold/row_figures.h"

#include <algorithm>

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

}  // namespace heapgauge
