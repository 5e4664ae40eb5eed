// The first half of reading pprof's format: one pass over the stream, message by message, into a
// draft. No message is kept.
//
// Refuses what is wrong in itself: broken messages, ids that are 0 or taken twice, samples that
// differ in their number of values, two profiles in one file.
#pragma once

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/formats/pprof/pprof_draft.h"

namespace heapgauge {

// The draft is new but for its name. The stream is not compressed any more.
Status ReadPprofMessages(ByteStream* stream, PprofDraft* draft);

}  // namespace heapgauge
