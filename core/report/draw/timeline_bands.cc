#include "core/report/draw/timeline_bands.h"

#include <string>
#include <vector>

#include "core/fold/allocation_frames.h"
#include "core/report/labels.h"

namespace heapgauge {

void NameBands(const trace::TraceFile::Stacks& stacks, trace::TraceTimeline* made) {
  if (made->stacks.empty()) return;
  const Profile& profile = stacks.profile;
  const std::vector<uint32_t> skipped = CountAllocationFrames(profile);
  const std::vector<std::string> names = FrameNames(profile, Granularity::kLines, Names::kShort);
  for (size_t i = 0; i < made->stacks.size(); ++i) {
    const uint32_t stack = made->stacks[i];
    bool begun = false;
    for (NodeId node = stack < stacks.stacks.size() ? stacks.stacks[stack].leaf : kNone;
         node != kNone; node = profile.nodes[node].parent) {
      const LocationId id = profile.nodes[node].location;
      const Location& location = profile.locations[id];
      for (uint32_t k = begun ? 0 : skipped[id]; k < location.frame_count; ++k) {
        made->timeline.bands[i].frames.push_back(names[location.first_frame + k]);
        begun = true;
      }
    }
  }
}

}  // namespace heapgauge
