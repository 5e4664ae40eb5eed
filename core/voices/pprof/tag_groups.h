// Many numeric tags as a few boxes: "16B", "32B..64kB".
#pragma once

#include <cstddef>
#include <vector>

#include "core/voices/pprof/graph.h"

namespace heapgauge::pprof {

// At most `count`: the weightiest tags, each with those that are nearest to it. Sorted by weight.
std::vector<Tag> GroupNumbers(std::vector<Tag> tags, size_t count, bool flat);

}  // namespace heapgauge::pprof
