// What reports on a profile begin with: the figures of its rows, who its frames are, which of them
// only allocate, and where the figures of each row go. Each is made when it is first asked for, and
// once: whoever asks several things of one profile pays for it once.
//
// Refers to the profile, which must outlive it and not change. Threads: any number; one makes a
// part, who needs the same part waits for it, and nobody else does.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/lazy.h"
#include "core/fold/allocation_frames.h"
#include "core/fold/entities.h"
#include "core/fold/measures.h"
#include "core/fold/row_figures.h"
#include "core/model/profile.h"

namespace heapgauge {

class Groundwork {
 public:
  explicit Groundwork(const Profile& profile) : Groundwork(profile, MeasuresOf(profile)) {}
  // About other figures than the profile suggests.
  Groundwork(const Profile& profile, Measures measures)
      : profile_(profile), measures_(std::move(measures)), figures_(profile, measures_) {}

  const Profile& profile() const { return profile_; }
  const Measures& measures() const { return measures_; }

  const RowFigures& figures() const { return figures_; }
  HeapFigures total() const;  // of all rows
  // CountAllocationFrames().
  const std::vector<uint32_t>& allocation_frames() const;
  // FlatFrame() of each row.
  const std::vector<FramePlace>& flat_frames() const;
  const std::shared_ptr<const Entities>& entities(Granularity granularity) const;

 private:
  const Profile& profile_;
  const Measures measures_;
  const RowFigures figures_;
  Lazy<HeapFigures> total_;
  Lazy<std::vector<uint32_t>> allocation_frames_;
  Lazy<std::vector<FramePlace>> flat_frames_;
  std::array<Lazy<std::shared_ptr<const Entities>>, kGranularities> entities_;
};

}  // namespace heapgauge
