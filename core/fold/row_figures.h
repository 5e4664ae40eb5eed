// The figures of the rows of a profile, put together when they are asked for: a list of them would
// be larger than all else that a large profile has.
//
// Where rows do not know how many samples they rest on, a row that is not zero counts as one; that
// is also one of blocks without a byte.
//
// Refers to the profile, which must outlive it and not change. Read-only once made.
#ifndef HEAPGAUGE_CORE_FOLD_ROW_FIGURES_H_
#define HEAPGAUGE_CORE_FOLD_ROW_FIGURES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/model/profile.h"

namespace heapgauge {

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

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FOLD_ROW_FIGURES_H_
