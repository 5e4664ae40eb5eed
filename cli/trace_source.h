// SOURCE that is an exact trace, for commands that want its events rather than a profile.
#ifndef HEAPGAUGE_CLI_TRACE_SOURCE_H_
#define HEAPGAUGE_CLI_TRACE_SOURCE_H_

#include <functional>
#include <memory>
#include <string>

#include "cli/report_options.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {

struct OpenedTrace {
  std::shared_ptr<const trace::TraceFile> file;
  trace::TraceFile::Stacks stacks;  // with names
};

// Whether the one source of the options is a trace.
bool IsTraceSource(const ReportOptions& options);
bool IsTraceFile(const std::string& path);
// The same, and all of it is meant: --at, --focus and all the others
// that choose a moment, a range or blocks make a profile of it.
bool IsWholeTrace(const ReportOptions& options);
// Opens it and names its stacks.
Result<OpenedTrace> OpenTrace(const ReportOptions& options);

// Opens it and has it written in another form, to where -o says, compressed if that name asks for
// it.
int DeliverTrace(const ReportOptions& options,
                 const std::function<Status(const OpenedTrace&, ProgressSink*, TextSink*)>& write);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_TRACE_SOURCE_H_
