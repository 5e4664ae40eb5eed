// The writers of single reports. WriteReport() picks one; nobody else calls them.
//
// All of them stream to the sink and stop at its first error. Single-threaded.
#pragma once

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/voices/pprof/report_input.h"

namespace heapgauge::pprof {

// From the call graph.
Status WriteTop(const ReportInput& input, TextSink* out);
Status WriteTree(const ReportInput& input, TextSink* out);  // also peek
Status WriteDot(const ReportInput& input, TextSink* out);
Status WriteCallgrind(const ReportInput& input, TextSink* out);

// From the rows.
Status WriteTraces(const ReportInput& input, TextSink* out);
Status WriteTags(const ReportInput& input, TextSink* out);
Status WriteRaw(const ReportInput& input, TextSink* out);
Status WriteComments(const ReportInput& input, TextSink* out);

// With sources and machine code.
Status WriteList(const ReportInput& input, TextSink* out);
Status WriteWeblist(const ReportInput& input, TextSink* out);
Status WriteDisasm(const ReportInput& input, TextSink* out);

// As profiles.
Status WriteProto(const ReportInput& input, TextSink* out);
Status WriteTopProto(const ReportInput& input, TextSink* out);

}  // namespace heapgauge::pprof
