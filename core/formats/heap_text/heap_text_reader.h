// Reads heap profiles in the text format that gperftools began: its heap profiler and sampler,
// tcmalloc, Go (debug=1), and many tools that imitate them. docs/formats/heap-text.md describes it.
//
// Streams: memory is that of the profile. Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/text_options.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadHeapText(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadHeapText(LineReader* lines, const TextReadOptions& options);

}  // namespace heapgauge
