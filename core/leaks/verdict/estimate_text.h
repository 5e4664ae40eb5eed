// A sampled amount of memory in words, with how sure it is: the same in every sentence on leaks. A
// pure function.
#pragma once

#include <string>

#include "core/model/estimate.h"

namespace heapgauge::leaks {

// "310 MB ± 40", in the unit of the figure, or "1.8 GB ± 38.5 MB" where that would be 0; with both
// ends, "65.0 kB (95 %: 1.0-223 kB)", where the range is wider than the figure; without a range
// where it is narrower than a thousandth of it.
std::string EstimateText(const Estimate& bytes, bool utf8 = true);

}  // namespace heapgauge::leaks
