// A massif.out file as a profile: rows from the tree of one snapshot (the peak, unless another is
// asked for), the timeline from all of them.
//
// There is one sample type, inuse_space: massif counts no blocks. What it folds ("in 3 places, all
// below massif's threshold") is a row of its own, under the frame that it stands below; so is what
// a node has beyond its children. Frames have the names, files, lines and modules of the file, and
// are not looked up again. Times of the timeline are nanoseconds if the file counts milliseconds,
// otherwise what it counts. Single-threaded.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/fold/timeline.h"
#include "core/formats/massif/massif_file.h"
#include "core/model/profile.h"

namespace heapgauge {

// `at`: "" or "peak"; "start", "end"; "snapshot=12"; a time in what the file counts, or with a unit
// ("1.5s", "250ms", "20M"), or a share of the whole ("40%"). Snapshots without a tree cannot be
// shown: the nearest one with a tree is, and a note says so.
Result<Profile> MassifProfile(const MassifFile& file, const std::string& at);
Result<Profile> ReadMassif(ByteStream* stream, const std::string& name, const std::string& at);

// The heap over time as the snapshots of a massif file show it: the steps between `from` and `to`,
// both on the axis of the file. Fails if there is none.
Result<Timeline> TimelineOfMassif(const MassifFile& file, uint64_t from, uint64_t to);

}  // namespace heapgauge
