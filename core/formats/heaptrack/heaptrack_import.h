// Makes a trace of a heaptrack file, so that all that can be asked of a trace can be asked of it.
//
// Raw files tell the address of each block, so births and deaths are matched as they were.
// Interpreted files only tell size and stack of a block that was freed: of the live ones with the
// same, the oldest is taken (the newest if it was temporary). Sums per stack are exact all the
// same, lifetimes of such blocks are not. Threads are not recorded, so all is by one; times are
// those of the last tick, 10 ms apart; the order of events is that of the file.
//
// Streams: memory is that of the parser, and about 200 bytes for each live block. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge {

struct HeaptrackImport {
  HeaptrackOutcome outcome;
  trace::Facts facts;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t live = 0;           // at the end
  uint64_t guessed_frees = 0;  // of one out of several blocks with the same size and stack
};

struct HeaptrackImportOptions {
  // The build-id (hexadecimal) of the object at a path, "" unknown. Raw files do not tell it, and
  // without one names could not be looked up.
  std::function<std::string(const std::string& path)> build_id_of;
  ProgressSink* progress = nullptr;
};

// Writes all and finishes the trace.
Result<HeaptrackImport> ImportHeaptrack(ByteStream* stream, const std::string& name,
                                        const HeaptrackImportOptions& options,
                                        trace::TraceWriter* writer);

}  // namespace heapgauge
