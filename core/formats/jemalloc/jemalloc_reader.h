// Reads heap profiles as jemalloc writes them (prof.dump, prof_final, prof_gdump), by thread if
// asked. docs/formats/jemalloc.md describes the format.
//
// Streams: memory is that of the profile. Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/text_options.h"
#include "core/model/profile.h"

namespace heapgauge {

// options.thread: "" the sum over all threads, "*" a row for each thread with the labels "thread"
// and, where it has one, "thread_name"; a number: that thread alone.
Result<Profile> ReadJemalloc(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadJemalloc(LineReader* lines, const TextReadOptions& options);

}  // namespace heapgauge
