// Heap profiles in gperftools' text format, read and written.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/profile_text.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {

// Reads heap profiles in the text format that gperftools began: its heap profiler and sampler,
// tcmalloc, Go (debug=1), and many tools that imitate them. docs/formats/heap-text.md describes it.
//
// Streams: memory is that of the profile. Single-threaded.

Result<Profile> ReadHeapText(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadHeapText(LineReader* lines, const TextReadOptions& options);

// Writes a profile in gperftools' text format, which pprof and the perl tools read: sampled
// profiles as heap_v2 with their rate, exact ones as heapprofile.
//
// Figures that readers compute agree with the profile's as nearly as whole numbers allow (see
// sampling.h); a profile that cannot be put into samples (a difference, or scaled) is written as an
// exact one. Rows are written as they come; memory does not depend on their number.

Status WriteHeapText(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge
