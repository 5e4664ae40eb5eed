// What reports on a profile begin with: the figures of its rows, who its frames are, which of them
// only allocate, and where the figures of each row go. Each is made when it is first asked for, and
// once: whoever asks several things of one profile pays for it once.
//
// Refers to the profile, which must outlive it and not change. Threads: any number; one makes a
// part, who needs the same part waits for it, and nobody else does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/threads.h"
#include "core/fold/frames.h"
#include "core/fold/measures.h"
#include "core/model/estimate.h"
#include "core/model/profile.h"

namespace heapgauge {

// The figures of a row, a function or a whole profile. In a profile that is not about live memory,
// `live_bytes` is its main figure, whatever that is (measures.h), and what it does not know is 0.
struct HeapFigures {
  Estimate live_bytes;
  Estimate allocated_bytes;
  double live_objects = 0;
  double allocated_objects = 0;
  uint64_t samples = 0;
  uint64_t live_samples = 0;
  double aged_bytes = 0;  // live bytes whose age is known
  double birth_sum = 0;   // their births, weighted by bytes
  uint64_t oldest_birth = ~uint64_t{0};

  void Add(const HeapFigures& other) {
    live_bytes.Add(other.live_bytes);
    allocated_bytes.Add(other.allocated_bytes);
    live_objects += other.live_objects;
    allocated_objects += other.allocated_objects;
    samples += other.samples;
    live_samples += other.live_samples;
    aged_bytes += other.aged_bytes;
    birth_sum += other.birth_sum;
    oldest_birth = std::min(oldest_birth, other.oldest_birth);
  }
  // There is something: blocks, be it of 0 bytes, or bytes.
  bool has_live() const { return live_bytes.value != 0 || live_objects != 0; }
  bool has_allocated() const { return allocated_bytes.value != 0 || allocated_objects != 0; }
  // Mean age of the live bytes and age of the oldest block at `now_ns`; 0 if not known.
  uint64_t MeanAge(uint64_t now_ns) const;
  uint64_t OldestAge(uint64_t now_ns) const;
};

// The figures of the rows of a profile, put together when they are asked for: a list of them would
// be larger than all else that a large profile has.
//
// Where rows do not know how many samples they rest on, a row that is not zero counts as one; that
// is also one of blocks without a byte.
//
// Refers to the profile, which must outlive it and not change. Read-only once made.
class RowFigures {
 public:
  RowFigures(const Profile& profile, const Measures& measures);

  size_t size() const { return profile_.rows.size(); }

  HeapFigures operator[](size_t row) const {
    HeapFigures f;
    if (main_ != kNone) f.live_bytes = At(row, main_);
    if (allocated_ != kNone) f.allocated_bytes = At(row, allocated_);
    if (objects_ != kNone) f.live_objects = At(row, objects_).value;
    if (allocated_objects_ != kNone) f.allocated_objects = At(row, allocated_objects_).value;
    if (has_samples_) {
      f.samples = profile_.rows[row].samples;
      f.live_samples = profile_.rows[row].live_samples;
    } else {
      f.live_samples = f.has_live() ? 1 : 0;
      f.samples = f.has_live() || f.has_allocated() ? 1 : 0;
    }
    if (!births_.empty()) {
      f.aged_bytes = births_[row].bytes;
      f.birth_sum = births_[row].sum;
      f.oldest_birth = births_[row].oldest;
    }
    return f;
  }

  HeapFigures Total() const;

 private:
  // Of the live blocks of a row.
  struct Births {
    double bytes = 0;
    double sum = 0;  // weighted by bytes
    uint64_t oldest = ~uint64_t{0};
  };

  Estimate At(size_t row, size_t type) const {
    const size_t at = row * types_ + type;
    if (!profile_.estimates.empty()) return profile_.estimates[at];
    Estimate certain;
    certain.value = certain.floor = static_cast<double>(profile_.values[at]);
    return certain;
  }

  const Profile& profile_;
  const size_t types_;
  const size_t main_;
  const size_t allocated_;
  const size_t objects_;
  const size_t allocated_objects_;
  const bool has_samples_;
  std::vector<Births> births_;  // by row; empty: nobody knows
};

// One for each row of the profile; RowFigures has them one by one.
std::vector<HeapFigures> FiguresOfRows(const Profile& profile);

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
