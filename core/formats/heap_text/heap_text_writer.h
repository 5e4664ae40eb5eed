// Writes a profile in gperftools' text format, which pprof and the perl tools read: sampled
// profiles as heap_v2 with their rate, exact ones as heapprofile.
//
// Figures that readers compute agree with the profile's as nearly as whole numbers allow (see
// resample.h); a profile that cannot be put into samples (a difference, or scaled) is written as an
// exact one. Rows are written as they come; memory does not depend on their number.
#pragma once

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/formats/text/profile_text.h"
#include "core/model/profile.h"

namespace heapgauge {

Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge
