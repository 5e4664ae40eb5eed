#include "core/formats/massif/massif_file.h"

#include <tuple>

namespace heapgauge {

const char* MassifUnitName(MassifUnit unit) {
  switch (unit) {
    case MassifUnit::kInstructions:
      break;
    case MassifUnit::kMilliseconds:
      return "ms";
    case MassifUnit::kBytes:
      return "B";
  }
  return "i";
}

size_t MassifFile::PeakSnapshot() const {
  size_t best = snapshots.size();
  const auto rank = [this](size_t i) {
    const MassifSnapshot& s = snapshots[i];
    return std::make_tuple(s.kind == MassifSnapshot::Kind::kPeak, !s.tree.empty(), s.total_bytes());
  };
  for (size_t i = 0; i < snapshots.size(); ++i) {
    if (best == snapshots.size() || rank(i) > rank(best)) best = i;
  }
  return best;
}

}  // namespace heapgauge
