// Says in one sentence why somebody is suspected of leaking, or why not. Pure functions.
#pragma once

#include <string>

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/suspect.h"

namespace heapgauge::leaks {

// Goes on from the function's name: "lost 310 MB ± 40: no pointer leads to 37 of 40 sampled
// blocks, oldest 2h10m", "holds 1.2 GB and grows 30 MB/min (p < 0.001); nothing of it was freed;
// still reachable".
std::string SentenceOf(const Check& check, const Suspect& suspect);

// "the heap as a whole grows 31 MB/min (p < 0.001)"; "" if it does not.
std::string SentenceOfWhole(const GrowthEvidence& whole);

// "30 MB/min": per second, minute, hour or day, as gives a figure that says something.
std::string FormatRate(double bytes_per_second);

}  // namespace heapgauge::leaks
