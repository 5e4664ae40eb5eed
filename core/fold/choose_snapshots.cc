#include "core/fold/choose_snapshots.h"

#include <algorithm>

namespace heapgauge {

SnapshotChooser::SnapshotChooser(size_t most) : limit_((std::max<size_t>(most, 8) - 2) / 2) {}

void SnapshotChooser::MakeRoom(const SnapshotPoint& moment) {
  if (stretches_.empty()) {
    start_ = moment.at;
    first_ = moment;
  }
  while ((moment.at - start_) / length_ >= limit_) JoinPairs();
  const uint64_t number = (moment.at - start_) / length_;
  end_ = (number + 1) * length_;
  // It may have become part of the one before.
  if (stretches_.empty() || stretches_.back().number != number) {
    stretches_.push_back({number, moment, moment});
  }
}

void SnapshotChooser::JoinPairs() {
  length_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    Stretch stretch = stretches_[i];
    stretch.number /= 2;
    if (kept > 0 && stretches_[kept - 1].number == stretch.number) {
      Stretch& joined = stretches_[kept - 1];
      if (stretch.low.bytes < joined.low.bytes) joined.low = stretch.low;
      if (stretch.high.bytes > joined.high.bytes) joined.high = stretch.high;
    } else {
      stretches_[kept++] = stretch;
    }
  }
  stretches_.resize(kept, {});
}

std::vector<SnapshotPoint> SnapshotChooser::Take() {
  std::vector<SnapshotPoint> moments;
  const auto add = [&](const SnapshotPoint& moment) {
    if (moments.empty() || moments.back().place != moment.place) moments.push_back(moment);
  };
  if (stretches_.empty()) return moments;
  add(first_);
  for (const Stretch& stretch : stretches_) {
    const bool low_first = stretch.low.place <= stretch.high.place;
    add(low_first ? stretch.low : stretch.high);
    add(low_first ? stretch.high : stretch.low);
  }
  // Nothing may have happened up to the end, which is told all the same.
  if (moments.back().place != last_.place || moments.back().at != last_.at) {
    moments.push_back(last_);
  }
  return moments;
}

}  // namespace heapgauge
