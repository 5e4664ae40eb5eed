#include "core/voices/pprof/rewrite.h"

#include <algorithm>

namespace heapgauge::pprof {
namespace {

// Gives a location frames of its own at the end of the list; nobody else's are touched.
void SetFrames(const std::vector<Frame>& frames, LocationId id, Profile* profile) {
  Location& location = profile->locations[id];
  location.first_frame = static_cast<uint32_t>(profile->frames.size());
  location.frame_count = static_cast<uint32_t>(frames.size());
  if (frames.empty()) location.first_frame = 0;
  profile->frames.insert(profile->frames.end(), frames.begin(), frames.end());
  if (!frames.empty()) profile->frames.back().inlined = false;
}

}  // namespace

std::span<const Frame> FramesOf(const Profile& profile, const Location& location) {
  return {profile.frames.data() + location.first_frame, location.frame_count};
}

void CutFrames(uint32_t first, uint32_t end, LocationId id, Profile* profile) {
  Location& location = profile->locations[id];
  if (end == location.frame_count) {
    location.first_frame += first;
    location.frame_count -= first;
    return;
  }
  const auto frames = FramesOf(*profile, location);
  SetFrames({frames.begin() + first, frames.begin() + end}, id, profile);
}

void KeepFrames(const std::function<bool(const Frame&)>& keep, LocationId id, Profile* profile) {
  std::vector<Frame> kept;
  const auto frames = FramesOf(*profile, profile->locations[id]);
  for (const Frame& frame : frames) {
    if (keep(frame)) kept.push_back(frame);
  }
  if (kept.size() != frames.size()) SetFrames(kept, id, profile);
}

}  // namespace heapgauge::pprof
