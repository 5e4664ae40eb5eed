// Many numeric tags as a few boxes: "16B", "32B..64kB".
#ifndef HEAPGAUGE_CORE_VOICES_PPROF_TAG_GROUPS_H_
#define HEAPGAUGE_CORE_VOICES_PPROF_TAG_GROUPS_H_

#include <cstddef>
#include <vector>

#include "core/voices/pprof/graph.h"

namespace heapgauge::pprof {

// At most `count`: the weightiest tags, each with those that are nearest to it. Sorted by weight.
std::vector<Tag> GroupNumbers(std::vector<Tag> tags, size_t count, bool flat);

}  // namespace heapgauge::pprof

#endif  // HEAPGAUGE_CORE_VOICES_PPROF_TAG_GROUPS_H_
