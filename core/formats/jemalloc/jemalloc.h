// Heap profiles in jemalloc's format, read and written.
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

// Reads heap profiles as jemalloc writes them (prof.dump, prof_final, prof_gdump), by thread if
// asked. docs/formats/jemalloc.md describes the format.
//
// Streams: memory is that of the profile. Single-threaded.
//
// options.thread: "" the sum over all threads, "*" a row for each thread with the labels "thread"
// and, where it has one, "thread_name"; a number: that thread alone.
Result<Profile> ReadJemalloc(ByteStream* stream, const std::string& name,
                             const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadJemalloc(LineReader* lines, const TextReadOptions& options);

// Writes a profile in jemalloc's own format, for jeprof and what else reads it. Rows that carry the
// label "thread" are written by thread as well as summed up.
//
// As for figures, see core/formats/heap_text/heap_text.h. Rows of one stack stand together, so they
// are sorted by stack first: four bytes for each row.
Status WriteJemalloc(const Profile& profile, const TextWriteOptions& options, TextSink* sink);

}  // namespace heapgauge
