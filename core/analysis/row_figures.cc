#include "core/analysis/row_figures.h"

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

}  // namespace heapgauge
