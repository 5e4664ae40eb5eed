// A massif.out file from moments of a recording, and of profiles that know how their heap grew.
//
// Pure functions.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/fold/choose_snapshots.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/massif/massif_tree.h"
#include "core/model/profile.h"

namespace heapgauge {

// Snapshots without trees. Moments are in nanoseconds if the unit is kMilliseconds; massif knows
// whole milliseconds alone, so they are cut.
MassifFile MassifOfMoments(const std::vector<SnapshotPoint>& moments, MassifUnit unit,
                           const RecordingFacts& recording);

// Decides which snapshots are to have a tree: the highest (as the peak), the last, and one in
// `every` (0: no others).
void MarkDetailed(size_t every, MassifFile* file);

// Snapshots from the points of a profile's timeline. It knows stacks of its own moment, which is
// the last one, and `peak`, if not null, those of the peak.
Result<MassifFile> MassifOfProfile(const Profile& now, const Profile* peak, MassifUnit unit,
                                   size_t most_snapshots, const MassifTreeOptions& tree);

}  // namespace heapgauge
