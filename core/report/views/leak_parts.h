// Parts that the reports on leaks are put together from. For the .cc files of this folder. Pure
// functions.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/leaks/verdict/stack_frames.h"
#include "core/report/views/leaks_subject.h"

namespace heapgauge {

// Who is suspected, each with the reason, and with an empty line behind; "" if there is nothing to
// go by.
StyledText LeakSuspectsText(const LeaksSubject& subject, const LeaksOptions& options);
// REQUIRES: the subject has suspects.
Json LeakSuspectsJson(const LeaksSubject& subject);
Json LeakSuspectJson(const LeaksSubject& subject, const leaks::Suspect& suspect);

// The frames of a stack, one on each line, without what only allocates and what called main.
void AddLeakStack(const Profile& profile, NodeId leaf, const std::string& indent,
                  const LeaksOptions& options, leaks::AllocationFrames* allocation,
                  StyledText* text);

// Members of the JSON of a check: docs/formats/leaks-json.md.
Json LeakCheckJson(const leaks::Check& check);
Json LeakSummaryJson(const LeaksSubject& subject, const LeaksOptions& options);
Json LeakSuppressionsJson(const LeaksSubject& subject);
Json LeakRecordJson(const LeaksSubject& subject, size_t index, size_t most_frames = SIZE_MAX);
Json LeakStackJson(const Profile& profile, NodeId leaf, size_t most_frames = SIZE_MAX);

// Function, file, line, module and address, as far as they are known.
Json LeakFrameJson(const Profile& profile, const leaks::StackFrame& frame);

// How many bytes may be there of something none of which was sampled, in 95 of 100 checks, at the
// coarsest interval that is known to have been in force. 0 where all blocks are known.
double UnseenLeakBytes(const leaks::Check& check);

// "Cache::Insert holds 1.2 GB and grows 30 MB/min"; "" if nothing does.
std::string LeakGrowthVerdict(const LeaksSubject& subject);

}  // namespace heapgauge
