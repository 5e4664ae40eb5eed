// Makes the trees of a massif.out file from stacks: functions that allocated at the top, callers
// below, as massif has them. What is below the threshold is folded into one node under its parent.
//
// Only what is above the threshold is ever looked at frame by frame, so a tree costs little however
// many stacks there are. Not synchronised; profile and file must outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/fold/choose_snapshots.h"
#include "core/formats/massif/massif_file.h"
#include "core/model/profile.h"

namespace heapgauge {

struct MassifTreeOptions {
  double threshold = 1;  // percent of the snapshot's total
  size_t depth = 30;     // frames below the total
};

struct StackBytes {
  NodeId leaf = kNone;  // kNone: an unknown stack
  uint64_t bytes = 0;
};

class MassifTrees {
 public:
  // The profile has the names; frames that only allocate are left out.
  MassifTrees(const Profile& profile, const MassifTreeOptions& options, MassifFile* file);

  // Sets the tree of a snapshot. REQUIRES: its bytes are set.
  void SetTree(const std::vector<StackBytes>& stacks, MassifSnapshot* snapshot);

 private:
  // A stack on its way from the innermost frame outwards.
  struct Walk {
    NodeId node = kNone;  // kNone: at its end
    uint32_t frame = 0;   // of the node's location
    uint64_t bytes = 0;
    uint32_t unit = kNone;  // what the tree tells apart: a frame, or a location without a name
  };

  void Enter(Walk* walk) const;
  void Advance(Walk* walk) const;
  // Appends the children of the node `parent`, which all `walks` have passed.
  void AddChildren(std::span<Walk> walks, size_t parent, size_t depth, MassifSnapshot* snapshot);
  uint32_t TextOf(const Walk& walk);
  uint32_t TextId(const std::string& text);

  const Profile& profile_;
  const MassifTreeOptions options_;
  MassifFile* file_;
  std::vector<uint32_t> allocation_frames_;
  std::unordered_map<std::string, uint32_t> text_ids_;
  std::unordered_map<uint32_t, uint32_t> unit_texts_;
};

// A massif.out file from moments of a recording, and of profiles that know how their heap grew.
//
// Pure functions.

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
