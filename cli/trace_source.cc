#include "cli/trace_source.h"

#include <sys/stat.h>

#include "cli/packed_output.h"
#include "cli/progress_line.h"
#include "cli/report_source.h"
#include "core/base/byte_stream.h"
#include "core/base/peeking_stream.h"

namespace heapgauge::cli {

namespace {

bool ChoosesPart(const ReportOptions& options) {
  return options.trace != TraceOptions() || options.kind != "heap" || options.peak ||
         options.inherited != "all" || !options.focus.empty() || !options.ignore.empty() ||
         !options.type.empty();
}

}  // namespace

bool IsWholeTrace(const ReportOptions& options) {
  return !ChoosesPart(options) && IsTraceSource(options);
}

bool IsTraceSource(const ReportOptions& options) {
  return options.sources.size() == 1 && options.sources.front() != "-" &&
         IsTraceFile(options.sources.front());
}

bool IsTraceFile(const std::string& path) {
  // What is no file can be read once, and is left to whoever does.
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  auto opened = OpenStream(path);
  if (!opened) return false;
  PeekingStream stream(*std::move(opened));
  const auto start = stream.Peek(64);
  return start && trace::IsTrace(*start);
}

Result<OpenedTrace> OpenTrace(const ReportOptions& options) {
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  OpenedTrace opened;
  HG_ASSIGN(opened.file, trace::TraceFile::Open(options.sources.front()));
  HG_ASSIGN(const auto stacks, opened.file->ReadStacks());
  opened.stacks = *stacks;
  NameLocations(options.symbols, &opened.stacks.profile, progress);
  return opened;
}

int DeliverTrace(const ReportOptions& options,
                 const std::function<Status(const OpenedTrace&, ProgressSink*, TextSink*)>& write) {
  const auto trace = OpenTrace(options);
  if (!trace) return FailWith(trace.error());
  TellNotes(trace->file->notes());
  const int code = DeliverBy(options, [&](TextSink* sink) -> Status {
    const auto packed = [&](TextSink* out) { return write(*trace, BeginProgress(), out); };
    return WritePacked(options.output, packed, sink);
  });
  EndProgress();
  return code;
}

}  // namespace heapgauge::cli
