// Writes a profile in gperftools' text format, which pprof and the perl tools read: sampled
// profiles as heap_v2 with their rate, exact ones as heapprofile.
//
// Figures that readers compute agree with the profile's as nearly as whole numbers allow (see
// resample.h); a profile that cannot be put into samples (a difference, or scaled) is written as an
// exact one. Rows are written as they come; memory does not depend on their number.
#ifndef HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_TEXT_WRITER_H_
#define HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_TEXT_WRITER_H_

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/formats/text/profile_text.h"
#include "core/model/profile.h"

namespace heapgauge {

Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_FORMATS_HEAP_TEXT_HEAP_TEXT_WRITER_H_
