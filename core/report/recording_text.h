// The opening lines of every report on one profile: which program, how much is live and how sure
// that is, how it was sampled, what is missing. Of a profile by another tool: what it says of
// itself.
//
// Pure functions; text without a trailing blank line.
#pragma once

#include <string>
#include <vector>

#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/styled_text.h"

namespace heapgauge {

// `notes` are further lines of the kind "note: ...", such as modules without names.
StyledText RecordingText(const Profile& profile, const HeapFigures& total,
                         const std::vector<std::string>& notes, const Layout& layout);

// In place of rows, where there are none.
const char* NothingText(const RecordingFacts& recording);

// Whether the profile knows the process it is of: gauge files do, others do not.
bool IsRecorded(const RecordingFacts& recording);

// "running for 2h14m", "ended after 12s", "killed after 3m05s, forked at 20s": the times of a
// forked process count from the start of its parent, how long it ran does not. Of several:
// "and 2 more, added up".
std::string StateText(const RecordingFacts& recording);

// Of an exact trace: which time its figures are of, and which blocks: "at 12.3s", "from 2s to 5s;
// at least 64.0 kB". Else "".
std::string SelectionText(const RecordingFacts& recording);

// Of a dump: "snapshot taken at 3m05s because memory came near its limit (93 % of the cgroup's 512
// MB)". Of a program that could not write dumps: what went wrong. Else "".
std::string DumpText(const RecordingFacts& recording);

// "48.2 MB (95 %: 44.9-51.8 MB)". With no samples: "0 B (95 %: 0-1.8 MB)".
std::string LiveText(const Estimate& live, const RecordingFacts& recording);

// The estimate, or what an empty one still allows at the recording's interval.
Estimate OrNothingSampled(const Estimate& estimate, const RecordingFacts& recording);

}  // namespace heapgauge
