// Which figure of a profile is meant by a word that is made for traces ("allocated", "peak",
// "freed"): profiles of other kinds have some of them, as sample types of their own.
//
// Pure functions.
#pragma once

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/answer/trace_profile.h"

namespace heapgauge {

// Whether a profile that is none of a trace may have it at all.
bool MayHaveValue(trace::TraceValue value);

// Makes it the default type, counted in blocks in place of bytes if that is asked for. Fails if
// the profile does not have it; the message goes behind a name.
Status ShowValue(trace::TraceValue value, bool blocks, Profile* profile);

}  // namespace heapgauge
