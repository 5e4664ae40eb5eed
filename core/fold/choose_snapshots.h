// Which moments of a recording become snapshots of a massif.out file.
//
// The axis is divided into stretches, and each gives its lowest and its highest moment, so that the
// picture has the outline of the heap however few snapshots there are, and the highest of all, the
// true peak, is among them. The length of the recording need not be known before: stretches begin
// short and are joined in pairs when there are too many.
//
// Not synchronised; memory is bounded by the number of snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

struct SnapshotPoint {
  uint64_t at = 0;  // on the axis
  uint64_t bytes = 0;
  uint64_t extra = 0;
  // Whatever the caller finds the moment by; moments of the same place are one, but for the last.
  // In ascending order.
  uint64_t place = 0;
};

class SnapshotChooser {
 public:
  // At least 8.
  explicit SnapshotChooser(size_t most);

  // In order of time.
  void Add(const SnapshotPoint& moment) {
    last_ = moment;
    if (stretches_.empty() || moment.at - start_ >= end_) MakeRoom(moment);
    Stretch& stretch = stretches_.back();
    if (moment.bytes < stretch.low.bytes) stretch.low = moment;
    if (moment.bytes > stretch.high.bytes) stretch.high = moment;
  }

  // The first, the last and those between, in order.
  std::vector<SnapshotPoint> Take();

 private:
  struct Stretch {
    uint64_t number;
    SnapshotPoint low;
    SnapshotPoint high;
  };

  // Begins the stretch of that moment.
  void MakeRoom(const SnapshotPoint& moment);
  void JoinPairs();

  const size_t limit_;
  uint64_t start_ = 0;
  uint64_t length_ = 1;  // of a stretch
  uint64_t end_ = 0;     // of the last one, behind start_
  SnapshotPoint first_;
  SnapshotPoint last_;
  std::vector<Stretch> stretches_;  // only those that have a moment
};

}  // namespace heapgauge
