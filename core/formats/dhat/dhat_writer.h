// Writes DHAT files, version 2, for DHAT's viewer (dh_view.html): from a trace with everything but
// accesses, from a profile as much as it has.
//
// Written piece by piece. Memory: one point for each stack, and the texts of all frames.
// Single-threaded.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/dhat/dhat_file.h"
#include "core/model/profile.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// A stack of the profile that is passed along, kNone for the empty one, and its figures.
using DhatStack = std::pair<NodeId, DhatPoint>;

// The file itself. `profile` has the names.
Status WriteDhat(const Profile& profile, const DhatFacts& facts,
                 const std::vector<DhatStack>& points, TextSink* out);

struct DhatProfileOptions {
  std::vector<bool> selected;  // rows; empty: all
  // The sample type that becomes DHAT's total; out of range: what was allocated, or else what is in
  // use.
  size_t type = kNone;
};
// A profile that has all that DHAT has (because it comes from there) keeps it; of any other, one
// type becomes the total, and there are no lifetimes.
Status WriteDhat(const Profile& profile, const DhatProfileOptions& options, TextSink* out);

// `stacks` are the trace's, symbolized. Times are microseconds. Mappings are left out.
Status WriteDhat(const trace::TraceFile& trace, const trace::TraceFile::Stacks& stacks,
                 ProgressSink* progress, TextSink* out);

}  // namespace heapgauge
