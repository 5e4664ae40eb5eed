// pprof's reports, in pprof's words: byte for byte what `go tool pprof` prints for the same profile
// and options, but for the differences that docs/pprof.md lists.
//
// The way of a report: Prepare() applies the options that select and rewrite (filters.h), and works
// out which value is shown and what 100 % is; then the writer of the kind prints it. Reading,
// merging, symbolizing and leaving out the profile's drop_frames come before and are the caller's.
//
// Output is streamed. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/voices/pprof/report_input.h"

namespace heapgauge::pprof {

Status WriteReport(const ReportInput& input, TextSink* out);

}  // namespace heapgauge::pprof
