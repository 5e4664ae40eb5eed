// Writes a profile in jemalloc's own format, for jeprof and what else reads it. Rows that carry the
// label "thread" (jemalloc_reader.h) are written by thread as well as summed up.
//
// As for figures, see heap_text_writer.h. Rows of one stack stand together, so they are sorted by
// stack first: four bytes for each row.
#pragma once

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/formats/text/profile_text.h"
#include "core/model/profile.h"

namespace heapgauge {

Status WriteJemalloc(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge
