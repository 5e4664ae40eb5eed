// Whether values that were taken one after the other rise, and how fast, without asking how they
// are distributed: Mann and Kendall's test, and the slope of Theil and Sen. One wild value in ten
// moves neither.
//
// Pure functions; time is the square of the number of values, which should be a few dozen.
#pragma once

#include <vector>

#include "core/fold/interval.h"

namespace heapgauge {

struct Rise {
  // How probable it is that values without a trend go up as much: of all pairs, those that rise
  // minus those that fall, over what chance gives. 1 for fewer than four values.
  double p = 1;
  double slope = 0;  // from one value to the next: the median of the slopes of all pairs
  Interval slope_95;
};

Rise RiseOf(const std::vector<double>& values);
// Values of any times: slopes are for one unit of time. REQUIRES: as many times, none before the
// one in front of it. Of values of the same time there is no slope.
Rise RiseOf(const std::vector<double>& values, const std::vector<double>& times);

}  // namespace heapgauge
