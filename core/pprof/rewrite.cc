#include "core/pprof/rewrite.h"

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

void KeepRows(const std::vector<uint8_t>& keep, Profile* profile) {
  const size_t types = profile->sample_types.size();
  std::vector<RowId> new_id(keep.size(), kNone);
  RowId next = 0;
  for (RowId row = 0; row < keep.size(); ++row) {
    if (keep[row] == 0) continue;
    new_id[row] = next;
    if (next != row) {
      profile->rows[next] = profile->rows[row];
      for (size_t type = 0; type < types; ++type) {
        profile->values[next * types + type] = profile->values[row * types + type];
        if (profile->estimates.empty()) continue;
        profile->estimates[next * types + type] = profile->estimates[row * types + type];
      }
    }
    ++next;
  }
  if (next == keep.size()) return;
  profile->rows.resize(next);
  profile->values.resize(next * types);
  if (!profile->estimates.empty()) profile->estimates.resize(next * types);
  std::erase_if(profile->blocks, [&](Block& block) {
    block.row = new_id[block.row];
    return block.row == kNone;
  });
  std::erase_if(profile->unknown_fields, [&](UnknownFields& fields) {
    if (fields.owner != UnknownFields::Owner::kSample) return false;
    fields.id = fields.id < new_id.size() ? new_id[fields.id] : kNone;
    return fields.id == kNone;
  });
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
